// Discovery of authorization servers: RFC 9728, RFC 8414, OpenID Connect Discovery.

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "features/integrations/oauth.hpp"

namespace agw {

namespace {

constexpr std::string_view resource_place = "/.well-known/oauth-protected-resource";
constexpr std::string_view server_place = "/.well-known/oauth-authorization-server";
constexpr std::string_view openid_place = "/.well-known/openid-configuration";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// The path without trailing slash and query; empty for the root.
std::string path_of(const WebUrl& url) {
  std::string path(url.target().substr(0, url.target().find('?')));
  while (path.ends_with('/')) path.pop_back();
  return path;
}

bool is_loopback_host(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || host == "::1";
}

/// Parses an endpoint. Requires HTTPS or loopback, because codes and tokens are sent to it.
WebUrl endpoint_of(const std::string& text, std::string_view what) {
  const auto url = WebUrl::parse(text);
  if (!url) throw OAuthError(fmt::format("its authorization server has no usable {}", what));
  if (!url->origin().starts_with("https:") && !is_loopback_host(url->host())) {
    throw OAuthError(fmt::format("the {} of its authorization server is not encrypted", what));
  }
  return *url;
}

Task<std::optional<json::object>> first_of(const OAuthWeb& web, std::vector<std::string> places) {
  for (const auto& place : places) {
    const auto url = WebUrl::parse(place);
    if (!url) continue;
    auto reply = co_await web.get(*url);
    if (reply.status == 200 && !reply.body.empty()) co_return std::move(reply.body);
  }
  co_return std::nullopt;
}

/// The service's own metadata.
Task<std::optional<json::object>> resource_of(const OAuthWeb& web, const BearerChallenge& challenge) {
  const auto& service = web.service();
  if (!challenge.resource_metadata.empty()) co_return co_await first_of(web, {challenge.resource_metadata});
  std::vector<std::string> places{fmt::format("{}{}", service.origin(), resource_place)};
  if (const auto path = path_of(service); !path.empty()) places.insert(places.begin(), places.front() + path);
  co_return co_await first_of(web, std::move(places));
}

std::vector<std::string> places_of_issuer(const WebUrl& issuer) {
  const auto path = path_of(issuer);
  const auto& origin = issuer.origin();
  std::vector<std::string> places{fmt::format("{}{}{}", origin, server_place, path),
                                  fmt::format("{}{}{}", origin, openid_place, path)};
  if (!path.empty()) places.push_back(fmt::format("{}{}{}", origin, path, openid_place));
  return places;
}

std::string without_slash(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  return text;
}

/// The resource named in the metadata, which must be the service itself: it must not obtain tokens for another service
/// (RFC 9728, section 3.3).
std::string checked_resource(const WebUrl& service, const json::object& about) {
  auto named = string_or_empty(about, "resource");
  if (named.empty()) return without_slash(service.text());
  const auto resource = WebUrl::parse(named);
  const bool is_its_own = resource && resource->origin() == service.origin() &&
                          (path_of(service) + "/").starts_with(path_of(*resource) + "/");
  if (!is_its_own) throw OAuthError("its description is that of another service");
  return named;
}

/// Adds the scope for refresh tokens if the server supports it.
void want_renewal(std::optional<std::string>& scope, const json::object& server) {
  if (!lists_string(server, "scopes_supported", "offline_access")) return;
  if (scope && (" " + *scope + " ").find(" offline_access ") != std::string::npos) return;
  scope = scope && !scope->empty() ? *scope + " offline_access" : "offline_access";
}

/// Whether metadata has the expected issuer: a server with another one could have codes sent to itself (RFC 8414,
/// section 3.3). Many services, such as Atlassian's, name another one on the same host or below it. Whoever publishes
/// the metadata can speak for these, too.
bool is_issuer(const std::string& said, const WebUrl& named) {
  const auto url = WebUrl::parse(said);
  return url && (url->origin() == named.origin() || url->host().ends_with("." + named.host()));
}

OAuthServer server_of(const json::object& server) {
  if (!lists_string(server, "code_challenge_methods_supported", "S256")) {
    throw OAuthError("its authorization server does not protect logins (PKCE with S256)");
  }
  OAuthServer found{.issuer = string_or_empty(server, "issuer"),
                    .authorization_endpoint =
                        endpoint_of(string_or_empty(server, "authorization_endpoint"), "authorization endpoint"),
                    .token_endpoint = endpoint_of(string_or_empty(server, "token_endpoint"), "token endpoint"),
                    .auth_methods = strings_of(server, "token_endpoint_auth_methods_supported"),
                    .takes_client_urls = is_true(server, "client_id_metadata_document_supported"),
                    .names_itself = is_true(server, "authorization_response_iss_parameter_supported")};
  const auto registration = string_or_empty(server, "registration_endpoint");
  if (!registration.empty()) found.registration_endpoint = endpoint_of(registration, "registration endpoint");
  return found;
}

/// The default endpoints of a service of revision 2025-03-26 without metadata.
OAuthServer usual_server(const std::string& origin) {
  return {.authorization_endpoint = endpoint_of(origin + "/authorize", "authorization endpoint"),
          .token_endpoint = endpoint_of(origin + "/token", "token endpoint"),
          .registration_endpoint = endpoint_of(origin + "/register", "registration endpoint"),
          .auth_methods = {"none"}};
}

}  // namespace

Task<OAuthServer> discover_oauth(const OAuthWeb& web, BearerChallenge challenge) {
  const auto about = (co_await resource_of(web, challenge)).value_or(json::object());
  const auto resource = checked_resource(web.service(), about);
  const auto issuers = strings_of(about, "authorization_servers");
  const auto issuer = endpoint_of(issuers.empty() ? web.service().origin() : issuers.front(), "address");
  const auto described = co_await first_of(web, places_of_issuer(issuer));
  if (!described && !issuers.empty()) throw OAuthError("its authorization server does not describe itself");
  if (described && !is_issuer(string_or_empty(*described, "issuer"), issuer)) {
    throw OAuthError("the description of its authorization server is that of another one");
  }
  auto server = described ? server_of(*described) : usual_server(issuer.origin());
  server.resource = resource;
  if (!challenge.scope.empty()) {
    server.scope = challenge.scope;
  } else if (const auto scopes = strings_of(about, "scopes_supported"); !scopes.empty()) {
    server.scope = joined(scopes);
  }
  if (described) want_renewal(server.scope, *described);
  co_return server;
}

}  // namespace agw
