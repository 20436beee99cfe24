#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "features/secrets/service.hpp"
#include "io/http/http_client.hpp"
#include "io/process/blocking.hpp"
#include "models/http_provider.hpp"
#include "models/model.hpp"
#include "models/settings.hpp"

namespace agw {

/// A service with its secrets filled in.
struct FilledService {
  ProviderSettings settings{};
  std::string problem{};  ///< why they cannot be, and what to do; empty if they are
};

/// Fills in the secrets that the settings name. Blocks: not for the loop.
FilledService fill_in(const Secrets& secrets, ProviderSettings settings);

/// A model service that an extension describes. Its secrets are read for each call, so that a new key counts at once.
class LiveProvider : public Provider {
public:
  /// `on_use` is called before each call.
  LiveProvider(HttpClient& http, BlockingPool& blocking, const Secrets& secrets, ProviderSettings settings,
               std::chrono::milliseconds idle_timeout, std::function<void()> on_use);

  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) override;
  Task<std::variant<json::object, ModelFailure>> embed(json::object body, StopSource& stop) override;
  const CallFeature* unsupported(const ModelRequest& request) const override;

private:
  Task<std::variant<std::shared_ptr<HttpProvider>, ModelFailure>> prepare();
  std::shared_ptr<HttpProvider> provider_for(ProviderSettings filled);

  HttpClient& http_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
  const ProviderSettings settings_;
  const std::chrono::milliseconds idle_timeout_;
  const std::function<void()> on_use_;
  /// With the secrets of the last call; it remembers what the service has refused.
  std::shared_ptr<HttpProvider> provider_;
  ProviderSettings filled_;
};

}  // namespace agw
