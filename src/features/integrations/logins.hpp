#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/integrations/login_store.hpp"
#include "features/integrations/login_types.hpp"
#include "features/integrations/oauth.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// A person's logins at the services of `mcp-http` integrations, by OAuth 2.1 as MCP requires it: an authorization code
/// with PKCE for one resource. Tokens are refreshed shortly before they expire, and when a service rejects them. Used
/// on the loop.
class McpLogins {
public:
  McpLogins(Loop& loop, HttpClient& http, BlockingPool& blocking, const Secrets& secrets);

  /// Discovers the authorization server and starts a login. Throws BadRequest if `spec` is invalid, BadGateway if the
  /// service fails. The login must be finished within ten minutes.
  Task<StartedLogin> begin(IntegrationSettings settings, NewLogin spec);
  /// Exchanges the code in the redirect and stores the tokens. Throws as `begin` does.
  Task<> finish(IntegrationSettings settings, std::string redirected_to);
  /// Returns whether a login existed.
  Task<bool> forget(IntegrationSettings settings);

  /// The token to send; empty if there is no login. Throws SecretError.
  Task<std::string> token(IntegrationSettings settings);
  /// Handles the rejection (status 401 or 403) of a request with the token `sent`, which may be empty. Returns whether
  /// there is a new token now.
  Task<bool> handle_refusal(IntegrationSettings settings, std::string challenge, std::string sent);

  /// Cancels active refreshes.
  Task<> stop();

private:
  /// A login that waits for the person in the browser.
  struct Waiting {
    std::string integration;
    OAuthServer server;
    OAuthClient client;
    OAuthAttempt attempt;
    std::chrono::steady_clock::time_point until;
  };

  Task<OAuthWeb> web_of(IntegrationSettings settings);
  Task<std::optional<McpLogin>> load(IntegrationSettings settings);
  Task<> save(IntegrationSettings settings, McpLogin login);
  Task<BearerChallenge> challenge_of(const OAuthWeb& web, const std::string& integration);
  Task<StartedLogin> start(IntegrationSettings settings, NewLogin spec);
  Task<OAuthClient> client_for(const OAuthWeb& web, const OAuthServer& server, const NewLogin& spec,
                               const std::optional<McpLogin>& before);
  Waiting take_waiting(const std::string& integration, const std::string& state);
  Task<> renew(IntegrationSettings settings);
  Task<> renew_now(IntegrationSettings settings);

  Loop& loop_;
  HttpClient& http_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
  std::map<std::string, Waiting, std::less<>> waiting_;                       ///< by state
  std::map<std::string, BearerChallenge, std::less<>> challenges_;            ///< the latest, by integration
  std::map<std::string, std::shared_ptr<AsyncEvent>, std::less<>> renewals_;  ///< active ones, by integration
  TaskGroup group_;
};

}  // namespace agw
