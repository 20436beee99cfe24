#pragma once

#include <optional>
#include <string>

#include "features/integrations/oauth.hpp"
#include "features/integrations/types.hpp"
#include "features/secrets/service.hpp"

namespace agw {

/// What is kept of a person's login at a service.
struct McpLogin {
  std::string url;  ///< of the integration, as it stands there: tokens go nowhere else
  std::string resource;
  std::string token_endpoint;
  std::string issuer;
  std::string scope;
  OAuthClient client;
  OAuthTokens tokens;
};

/// Logins are secrets like any other: `mcp_<integration>`, a JSON object. All of it blocks and throws SecretError.
std::optional<McpLogin> load_login(const Secrets& secrets, const IntegrationSettings& settings);
void save_login(const Secrets& secrets, const IntegrationSettings& settings, const McpLogin& login);
/// Whether there was one.
bool remove_login(const Secrets& secrets, const std::string& integration);

}  // namespace agw
