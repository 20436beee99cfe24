// Requests to an authorization server: registration (RFC 7591), codes (RFC 6749, RFC 7636), refreshing.

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "features/integrations/oauth.hpp"
#include "io/http/web_request.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_response_bytes = 256 * 1024;
constexpr std::size_t max_reason_length = 200;
constexpr auto form = "application/x-www-form-urlencoded";

using FormFields = std::vector<std::pair<std::string, std::string>>;

std::string encoded(const FormFields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", name, percent_encode(value));
  }
  return text;
}

std::string base64url(std::string text) {
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.erase(text.find_last_not_of('=') + 1);
  return text;
}

/// The error code, if it has the form of RFC 6749: any other text could quote our request.
std::string reason_of(const OAuthWeb::Reply& reply) {
  const auto code = string_or_empty(reply.body, "error");
  const bool is_code = !code.empty() && code.size() <= max_reason_length &&
                       std::ranges::all_of(code, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return is_code ? code : fmt::format("status {}", reply.status);
}

/// Whether the same request would be refused again. Firewalls and servers that are being replaced answer 403 and 404.
bool is_final(const OAuthWeb::Reply& reply) {
  const auto code = string_or_empty(reply.body, "error");
  if (reply.status < 400 || reply.status >= 500 || reply.status == 429 || code == "temporarily_unavailable")
    return false;
  return reply.status == 400 || reply.status == 401 || !code.empty();
}

/// Adds the client's credentials to the request.
std::vector<HttpHeader> introduce(const OAuthClient& client, FormFields& fields) {
  if (client.auth_method == "client_secret_basic") {
    const auto both = percent_encode(client.id) + ":" + percent_encode(client.secret);
    return {{"Authorization", "Basic " + base64(both)}};
  }
  fields.emplace_back("client_id", client.id);
  if (client.auth_method == "client_secret_post") fields.emplace_back("client_secret", client.secret);
  return {};
}

std::int64_t end_of(const json::object& response) {
  const auto* seconds = response.if_contains("expires_in");
  if (!seconds || !seconds->is_number()) return 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto lifetime = std::clamp<double>(seconds->to_number<double>(), 0, 1e9);
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() + static_cast<std::int64_t>(lifetime);
}

/// Whether the text can be sent as a token in a header.
bool is_token(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

Task<OAuthTokens> request_tokens(const OAuthWeb& web, WebUrl endpoint, OAuthClient client, FormFields fields) {
  auto headers = introduce(client, fields);
  const auto reply = co_await web.post(std::move(endpoint), form, encoded(fields), std::move(headers));
  if (reply.status != 200) {
    throw OAuthError("its authorization server refused to give a token: " + reason_of(reply), is_final(reply));
  }
  OAuthTokens tokens{.access = string_or_empty(reply.body, "access_token"),
                     .refresh = string_or_empty(reply.body, "refresh_token"),
                     .expires_at = end_of(reply.body)};
  if (!is_token(tokens.access)) throw OAuthError("its authorization server gave no usable token");
  co_return tokens;
}

}  // namespace

Task<OAuthWeb::Reply> OAuthWeb::send_request(WebUrl url, std::string method, std::string body,
                                             std::vector<HttpHeader> headers) const {
  WebRequest request{.url = std::move(url), .method = std::move(method)};
  request.origin_headers = std::move(headers);
  request.headers.push_back({"Accept", "application/json"});
  request.body = std::move(body);
  request.max_body_bytes = max_response_bytes;
  if (may_be_private_) {
    request.may_be_private = [host = service_.host()](const WebUrl& next) { return next.host() == host; };
  }
  StopSource never;
  auto response = co_await send_web_request(http_, std::move(request), never);
  if (!response.problem.empty()) throw OAuthError(response.problem);
  Reply reply{.status = response.head.status};
  reply.challenge = response.head.header("www-authenticate").value_or("");
  if (auto parsed = parse_json(response.body); parsed && parsed->is_object()) reply.body = parsed->get_object();
  co_return reply;
}

Task<OAuthWeb::Reply> OAuthWeb::get(WebUrl url) const {
  co_return co_await send_request(std::move(url), "GET", "", {});
}

Task<OAuthWeb::Reply> OAuthWeb::post(WebUrl url, std::string content_type, std::string body,
                                     std::vector<HttpHeader> headers) const {
  headers.push_back({"Content-Type", std::move(content_type)});
  co_return co_await send_request(std::move(url), "POST", std::move(body), std::move(headers));
}

std::string auth_method_of(const OAuthServer& server, bool has_secret) {
  if (!has_secret) return "none";
  const auto takes = [&](std::string_view method) { return contains(server.auth_methods, method); };
  return takes("client_secret_post") && !takes("client_secret_basic") ? "client_secret_post" : "client_secret_basic";
}

Task<OAuthClient> register_client(const OAuthWeb& web, const OAuthServer& server, std::string redirect_uri) {
  if (!server.registration_endpoint) {
    throw OAuthError("its authorization server registers no clients: make one there and give its id with --client-id");
  }
  const bool may_be_public = server.auth_methods.empty() || contains(server.auth_methods, "none");
  json::object spec{{"client_name", "Agent Gateway"},
                    {"redirect_uris", json::array{json::string(redirect_uri)}},
                    {"grant_types", json::array{"authorization_code", "refresh_token"}},
                    {"response_types", json::array{"code"}},
                    {"application_type", "native"},
                    {"token_endpoint_auth_method", may_be_public ? "none" : auth_method_of(server, true)}};
  if (server.scope) spec["scope"] = *server.scope;
  const auto reply = co_await web.post(*server.registration_endpoint, "application/json", to_json(spec));
  OAuthClient client{.id = string_or_empty(reply.body, "client_id"),
                     .secret = string_or_empty(reply.body, "client_secret"),
                     .auth_method = string_or_empty(reply.body, "token_endpoint_auth_method"),
                     .is_registered = true};
  if (reply.status / 100 != 2 || client.id.empty()) {
    throw OAuthError("its authorization server refused to register this gateway: " + reason_of(reply));
  }
  if (client.auth_method.empty()) client.auth_method = auth_method_of(server, !client.secret.empty());
  co_return client;
}

std::string authorization_url(const OAuthServer& server, const OAuthClient& client, const OAuthAttempt& attempt) {
  FormFields fields{{"response_type", "code"},
                    {"client_id", client.id},
                    {"redirect_uri", attempt.redirect_uri},
                    {"state", attempt.state},
                    {"code_challenge", base64url(base64(sha256(attempt.verifier)))},
                    {"code_challenge_method", "S256"},
                    {"resource", server.resource}};
  if (server.scope && !server.scope->empty()) fields.emplace_back("scope", *server.scope);
  const auto& endpoint = server.authorization_endpoint.text();
  return endpoint + (endpoint.find('?') == std::string::npos ? "?" : "&") + encoded(fields);
}

Task<OAuthTokens> exchange_code(const OAuthWeb& web, const OAuthServer& server, const OAuthClient& client,
                                const OAuthAttempt& attempt, std::string code) {
  co_return co_await request_tokens(web, server.token_endpoint, client,
                                    {{"grant_type", "authorization_code"},
                                     {"code", std::move(code)},
                                     {"redirect_uri", attempt.redirect_uri},
                                     {"code_verifier", attempt.verifier},
                                     {"resource", server.resource}});
}

Task<OAuthTokens> refresh_tokens(const OAuthWeb& web, const WebUrl& token_endpoint, const std::string& resource,
                                 const OAuthClient& client, std::string refresh) {
  const auto old = refresh;
  auto tokens = co_await request_tokens(
      web, token_endpoint, client,
      {{"grant_type", "refresh_token"}, {"refresh_token", std::move(refresh)}, {"resource", resource}});
  if (tokens.refresh.empty()) tokens.refresh = old;
  co_return tokens;
}

}  // namespace agw
