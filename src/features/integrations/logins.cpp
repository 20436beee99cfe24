// Logins at MCP servers by OAuth: begun in a browser, stored as a secret, refreshed in time.
//
// A *challenge* is a server's header in a 401 or 403: the address of its authorization server, and the required scopes.
// A *login* is the tokens with all data required to refresh them, stored as one secret of the integration.
//
//   1. `begin`: find the authorization server by the challenge, choose a client (the person's, one identified by its
//      metadata URL, or a newly registered one), and return the address for the browser. The data for `finish` is kept
//      for ten minutes, by a random `state`.
//   2. `finish`: the browser has been redirected. The state must be known, belong to this integration, and is used only
//      once; the issuer must be the expected one. Exchange the code with its verifier (PKCE), and store the login.
//   3. `token`: return the access token. Refresh it first if it expires within half a minute.
//   4. `handle_refusal`: a token was rejected. If it is still the stored one, refresh it; if a scope is missing, a
//   person
//      must log in again.
//
// The invariant: a refresh token is used once. In `renew`, concurrent callers share one request, which none of them can
// cancel and whose result is stored before it is used. A final rejection deletes the tokens, so that the request is not
// repeated forever.
//
// A kill after the server has issued new tokens and before they are stored loses the login, and the person must log in
// again. It also loses logins that were begun and not finished.

#include "features/integrations/logins.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "features/integrations/protocol.hpp"
#include "features/integrations/rpc.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto login_timeout = 10min;
constexpr std::size_t max_logins = 100;
constexpr std::size_t max_challenges = 1000;
constexpr std::int64_t refresh_margin_seconds = 30;

bool expires_soon(const OAuthTokens& tokens) {
  return tokens.expires_at != 0 && tokens.expires_at < std::time(nullptr) + refresh_margin_seconds;
}

/// Allows only redirects to this machine or by HTTPS, so that others cannot intercept the code.
void check_redirect(const std::string& text) {
  const auto url = WebUrl::parse(text);
  const bool is_safe = url && (url->origin().starts_with("https:") || url->host() == "127.0.0.1" ||
                               url->host() == "::1" || url->host() == "localhost");
  if (!is_safe) throw BadRequest("redirect_uri must be an http address of this machine or an https address");
}

/// The parameters of the service's redirect.
std::map<std::string, std::string> redirect_parameters(const std::string& redirected_to) {
  const auto url = boost::urls::parse_uri(redirected_to);
  if (!url) throw BadRequest("redirected_to must be an address");
  std::map<std::string, std::string> parameters;
  for (const auto& parameter : url->params()) parameters.emplace(parameter.key, parameter.value);
  return parameters;
}

/// The union of two space-separated lists.
std::string merged_scopes(const std::string& some, const std::string& more) {
  std::string all = some;
  for (std::size_t at = 0; at < more.size();) {
    const auto end = std::min(more.find(' ', at), more.size());
    const auto word = more.substr(at, end - at);
    if (!word.empty() && (" " + all + " ").find(" " + word + " ") == std::string::npos) {
      all += (all.empty() ? "" : " ") + word;
    }
    at = end + 1;
  }
  return all;
}

/// An unauthenticated `initialize` request.
std::string probe() {
  return to_json(rpc_request(1, "initialize",
                             {{"protocolVersion", mcp_legacy_versions.front()},
                              {"capabilities", json::object()},
                              {"clientInfo", mcp_implementation()}}));
}

BadGateway login_failed(const std::exception& why) { return BadGateway(fmt::format("cannot log in: {}", why.what())); }

}  // namespace

McpLogins::McpLogins(Loop& loop, HttpClient& http, BlockingPool& blocking, const Secrets& secrets)
    : loop_(loop), http_(http), blocking_(blocking), secrets_(secrets), group_(loop) {
  group_.on_failure([](const std::exception_ptr& failure) {
    log::warn("cannot renew a login of an integration: {}", message_of(failure));
  });
}

Task<> McpLogins::stop() {
  group_.cancel();
  co_await group_.join();
}

Task<OAuthWeb> McpLogins::web_of(IntegrationSettings settings) {
  const auto text = co_await blocking_.run([&secrets = secrets_, url = settings.url] { return secrets.expand(url); });
  const auto url = WebUrl::parse(text);
  if (!url) throw OAuthError("its url is no http or https address");
  co_return OAuthWeb(http_, *url, settings.is_persons);
}

Task<std::optional<McpLogin>> McpLogins::load(IntegrationSettings settings) {
  co_return co_await blocking_.run([&secrets = secrets_, settings] { return load_login(secrets, settings); });
}

Task<> McpLogins::save(IntegrationSettings settings, McpLogin login) {
  co_await blocking_.run([&secrets = secrets_, settings, login] { save_login(secrets, settings, login); });
}

Task<bool> McpLogins::forget(IntegrationSettings settings) {
  challenges_.erase(settings.name);
  co_return co_await blocking_.run([&secrets = secrets_, name = settings.name] { return remove_login(secrets, name); });
}

Task<StartedLogin> McpLogins::begin(IntegrationSettings settings, NewLogin spec) {
  if (settings.kind != IntegrationKind::mcp_http)
    throw BadRequest("only integrations of the kind mcp-http have logins");
  check_redirect(spec.redirect_uri);
  try {
    co_return co_await start(std::move(settings), std::move(spec));
  } catch (const OAuthError& error) {
    throw login_failed(error);
  } catch (const SecretError& error) {
    throw login_failed(error);
  }
}

Task<StartedLogin> McpLogins::start(IntegrationSettings settings, NewLogin spec) {
  const auto web = co_await web_of(settings);
  const auto challenge = co_await challenge_of(web, settings.name);
  auto server = co_await discover_oauth(web, challenge);
  const auto before = co_await load(settings);
  if (before && challenge.error == "insufficient_scope")
    server.scope = merged_scopes(before->scope, server.scope.value_or(""));
  Waiting waiting{.integration = settings.name,
                  .server = server,
                  .client = co_await client_for(web, server, spec, before),
                  .attempt = {.state = random_hex(32), .verifier = random_hex(32), .redirect_uri = spec.redirect_uri},
                  .until = std::chrono::steady_clock::now() + login_timeout};
  StartedLogin started{.authorization_url = authorization_url(server, waiting.client, waiting.attempt),
                       .state = waiting.attempt.state};
  std::erase_if(waiting_, [](const auto& each) { return each.second.until < std::chrono::steady_clock::now(); });
  if (waiting_.size() == max_logins) waiting_.clear();
  const bool is_new = waiting_.emplace(started.state, std::move(waiting)).second;
  AGW_ASSERT(is_new);
  AGW_ASSERT(waiting_.size() <= max_logins);
  co_return started;
}

/// The service's last challenge, else the one that it sends to an unauthenticated request.
Task<BearerChallenge> McpLogins::challenge_of(const OAuthWeb& web, const std::string& integration) {
  if (const auto known = challenges_.find(integration); known != challenges_.end()) co_return known->second;
  const auto reply = co_await web.post(web.service(), "application/json", probe(),
                                       {{"Accept", "application/json, text/event-stream"}});
  co_return bearer_challenge(reply.challenge).value_or(BearerChallenge{});
}

/// In MCP's order of preference: a client from the person, one identified by a metadata URL, a newly registered one.
Task<OAuthClient> McpLogins::client_for(const OAuthWeb& web, const OAuthServer& server, const NewLogin& spec,
                                        const std::optional<McpLogin>& before) {
  if (spec.client_id) {
    const bool has_secret = spec.client_secret && !spec.client_secret->empty();
    co_return OAuthClient{.id = *spec.client_id,
                          .secret = spec.client_secret.value_or(""),
                          .auth_method = auth_method_of(server, has_secret)};
  }
  if (before && !before->client.id.empty() && !before->client.is_registered && before->issuer == server.issuer) {
    co_return before->client;
  }
  if (spec.client_metadata_url && server.takes_client_urls) {
    co_return OAuthClient{.id = *spec.client_metadata_url, .secret = "", .auth_method = "none"};
  }
  co_return co_await register_client(web, server, spec.redirect_uri);
}

McpLogins::Waiting McpLogins::take_waiting(const std::string& integration, const std::string& state) {
  const auto found = waiting_.find(state);
  const bool waits = found != waiting_.end() && found->second.integration == integration &&
                     found->second.until > std::chrono::steady_clock::now();
  if (!waits) throw BadRequest("no login expects this response: start again");
  auto waiting = std::move(found->second);
  AGW_ASSERT(waiting.attempt.state == state);
  waiting_.erase(found);
  return waiting;
}

Task<> McpLogins::finish(IntegrationSettings settings, std::string redirected_to) {
  auto response = redirect_parameters(redirected_to);
  const auto waiting = take_waiting(settings.name, response["state"]);
  const auto& server = waiting.server;
  // Otherwise, a response from another server could make us send the code there (RFC 9207).
  const bool says_issuer = response.contains("iss");
  if ((says_issuer || server.names_itself) && response["iss"] != server.issuer) {
    throw BadRequest("the response is not from the service's authorization server");
  }
  if (response.contains("error")) throw BadRequest("the service denied the login");
  if (response["code"].empty()) throw BadRequest("redirected_to has no code");
  try {
    const auto web = co_await web_of(settings);
    auto tokens = co_await exchange_code(web, server, waiting.client, waiting.attempt, response["code"]);
    co_await save(settings, {.url = settings.url,
                             .resource = server.resource,
                             .token_endpoint = server.token_endpoint.text(),
                             .issuer = server.issuer,
                             .scope = server.scope.value_or(""),
                             .client = waiting.client,
                             .tokens = std::move(tokens)});
  } catch (const OAuthError& error) {
    throw login_failed(error);
  } catch (const SecretError& error) {
    throw login_failed(error);
  }
  challenges_.erase(settings.name);
  log::info("integration {}: logged in", settings.name);
}

Task<std::string> McpLogins::token(IntegrationSettings settings) {
  auto login = co_await load(settings);
  if (!login) co_return "";
  if (expires_soon(login->tokens) && !login->tokens.refresh.empty()) {
    co_await renew(settings);
    login = co_await load(settings);
  }
  co_return login ? login->tokens.access : "";
}

Task<bool> McpLogins::handle_refusal(IntegrationSettings settings, std::string challenge, std::string sent) {
  const auto wanted = bearer_challenge(challenge).value_or(BearerChallenge{});
  if (challenges_.size() == max_challenges) challenges_.clear();
  challenges_[settings.name] = wanted;
  if (sent.empty() || wanted.error == "insufficient_scope") co_return false;
  auto login = co_await load(settings);
  if (login && login->tokens.access == sent && !login->tokens.refresh.empty()) {
    co_await renew(settings);
    login = co_await load(settings);
  }
  co_return login && !login->tokens.access.empty() && login->tokens.access != sent;
}

/// Concurrent callers share one refresh, because a refresh token may be used only once. Callers cannot cancel it,
/// because the new tokens would be lost.
Task<> McpLogins::renew(IntegrationSettings settings) {
  auto& active = renewals_[settings.name];
  if (!active) {
    active = std::make_shared<AsyncEvent>(loop_);
    group_.spawn(renew_now(settings));
  }
  const auto waited = active;
  co_await waited->wait();
}

Task<> McpLogins::renew_now(IntegrationSettings settings) {
  AGW_ASSERT(renewals_.contains(settings.name));
  const std::shared_ptr<void> at_end(nullptr, [this, name = settings.name](void*) {
    if (const auto mine = renewals_.extract(name)) mine.mapped()->notify();
  });
  auto login = co_await load(settings);
  const auto endpoint = login ? WebUrl::parse(login->token_endpoint) : std::nullopt;
  if (!endpoint) co_return;
  std::optional<OAuthError> failure;
  try {
    const auto web = co_await web_of(settings);
    login->tokens = co_await refresh_tokens(web, *endpoint, login->resource, login->client, login->tokens.refresh);
  } catch (const OAuthError& error) {
    failure = error;
  }
  if (failure) log::warn("integration {}: its login cannot be renewed: {}", settings.name, failure->what());
  if (failure && failure->is_final()) login->tokens = {};
  if (!failure || failure->is_final()) co_await save(settings, *login);
}

}  // namespace agw
