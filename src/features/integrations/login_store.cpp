#include "features/integrations/login_store.hpp"

#include <algorithm>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"

namespace agw {

namespace {

std::string secret_name(std::string integration) {
  AGW_ASSERT(!integration.empty());
  std::ranges::replace(integration, '-', '_');
  return "mcp_" + integration;
}

}  // namespace

std::optional<McpLogin> load_login(const Secrets& secrets, const IntegrationSettings& settings) {
  AGW_DEBUG_ASSERT(may_block());

  const auto text = secrets.find(secret_name(settings.name));
  const auto parsed = text ? parse_json(*text) : std::nullopt;
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto& kept = parsed->get_object();
  const auto* expires_at = kept.if_contains("expires_at");
  McpLogin login{
      .url = string_or_empty(kept, "url"),
      .resource = string_or_empty(kept, "resource"),
      .token_endpoint = string_or_empty(kept, "token_endpoint"),
      .issuer = string_or_empty(kept, "issuer"),
      .scope = string_or_empty(kept, "scope"),
      .client = {.id = string_or_empty(kept, "client_id"),
                 .secret = string_or_empty(kept, "client_secret"),
                 .auth_method = string_or_empty(kept, "auth_method"),
                 .is_registered = is_true(kept, "registered")},
      .tokens = {.access = string_or_empty(kept, "access_token"), .refresh = string_or_empty(kept, "refresh_token")}};
  if (expires_at && expires_at->is_int64()) login.tokens.expires_at = expires_at->get_int64();
  return login.url == settings.url ? std::optional(std::move(login)) : std::nullopt;
}

void save_login(const Secrets& secrets, const IntegrationSettings& settings, const McpLogin& login) {
  AGW_DEBUG_ASSERT(may_block());
  // Tokens are sent only to the address for which they were issued.
  AGW_ASSERT(login.url == settings.url);

  const json::object kept{{"url", settings.url},
                          {"resource", login.resource},
                          {"token_endpoint", login.token_endpoint},
                          {"issuer", login.issuer},
                          {"scope", login.scope},
                          {"client_id", login.client.id},
                          {"client_secret", login.client.secret},
                          {"auth_method", login.client.auth_method},
                          {"registered", login.client.is_registered},
                          {"access_token", login.tokens.access},
                          {"refresh_token", login.tokens.refresh},
                          {"expires_at", login.tokens.expires_at}};
  secrets.set(secret_name(settings.name), to_json(kept));
}

bool remove_login(const Secrets& secrets, const std::string& integration) {
  AGW_DEBUG_ASSERT(may_block());

  return secrets.remove(secret_name(integration));
}

}  // namespace agw
