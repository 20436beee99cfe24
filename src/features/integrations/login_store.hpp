#pragma once

#include <optional>
#include <string>

#include "features/integrations/oauth.hpp"
#include "features/integrations/types.hpp"
#include "features/secrets/service.hpp"

namespace agw {

/// The stored login of a person at a service.
struct McpLogin {
  std::string url;  ///< of the integration, as in its definition; tokens are sent only there
  std::string resource;
  std::string token_endpoint;
  std::string issuer;
  std::string scope;
  OAuthClient client;
  OAuthTokens tokens;
};

/// Logins are ordinary secrets: `mcp_<integration>`, a JSON object. All functions block and throw SecretError.
std::optional<McpLogin> load_login(const Secrets& secrets, const IntegrationSettings& settings);
void save_login(const Secrets& secrets, const IntegrationSettings& settings, const McpLogin& login);
/// Returns whether a login existed.
bool remove_login(const Secrets& secrets, const std::string& integration);

}  // namespace agw
