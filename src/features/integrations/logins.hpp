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

/// Logins of a person at the services of `mcp-http` integrations, by OAuth 2.1 as MCP wants it: an authorization code
/// with PKCE for one resource, tokens that are renewed before and after their end. On the loop.
class McpLogins {
public:
  McpLogins(Loop& loop, HttpClient& http, BlockingPool& blocking, const Secrets& secrets);

  /// Finds out where to log in. Throws BadRequest for what is wrong with the wish, BadGateway for what is wrong with
  /// the service. The login is to be finished within ten minutes.
  Task<StartedLogin> begin(IntegrationSettings settings, NewLogin spec);
  /// Takes what the service sent the person back with, and keeps the tokens. Throws as `begin`.
  Task<> finish(IntegrationSettings settings, std::string redirected_to);
  /// Whether there was a login.
  Task<bool> forget(IntegrationSettings settings);

  /// The token to send; empty where there is no login. Throws SecretError.
  Task<std::string> token(IntegrationSettings settings);
  /// The service refused a request (status 401 or 403) that had this token, or none. Whether there is another now.
  Task<bool> refused(IntegrationSettings settings, std::string challenge, std::string sent);

  /// Gives up what is under way.
  Task<> stop();

private:
  /// A login that waits for the person.
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
  std::map<std::string, BearerChallenge, std::less<>> challenges_;            ///< last heard, by integration
  std::map<std::string, std::shared_ptr<AsyncEvent>, std::less<>> renewals_;  ///< under way, by integration
  TaskGroup group_;
};

}  // namespace agw
