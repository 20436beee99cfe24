#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
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
  std::string problem{};  ///< why secrets are missing, and what to do; empty if none are
};

/// Fills in the secrets to which the settings refer. Blocks: not for the loop.
FilledService fill_in(const Secrets& secrets, ProviderSettings settings);

/// A model service that an extension describes. Its secrets are read for each call, so that a new key applies
/// immediately.
class LiveProvider : public Provider {
public:
  /// `on_use` is called before each call.
  LiveProvider(HttpClient& http, BlockingPool& blocking, const Secrets& secrets, ProviderSettings settings,
               std::chrono::milliseconds idle_timeout, std::function<void()> on_use);

  /// Called when the service has changed or was removed (`successor` is null). Runs that hold this provider continue
  /// with the address and key of its last call, because a newer key may be for the newer address only. If there was no
  /// call, they use the successor.
  void retire(std::shared_ptr<LiveProvider> successor);

  Task<ModelOutcome> answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) override;
  Task<std::variant<json::object, ModelFailure>> embed(json::object body, StopSource& stop) override;
  const CallFeature* unsupported(const ModelRequest& request) const override;

private:
  using Prepared = std::variant<std::shared_ptr<HttpProvider>, ModelFailure>;
  Task<Prepared> prepare();
  Task<Prepared> prepare_retired();
  ModelFailure cannot_be_called(std::string_view problem) const;
  std::shared_ptr<HttpProvider> provider_for(ProviderSettings filled);

  HttpClient& http_;
  BlockingPool& blocking_;
  const Secrets& secrets_;
  const ProviderSettings settings_;
  const std::chrono::milliseconds idle_timeout_;
  const std::function<void()> on_use_;
  /// Has the secrets of the last call, and remembers what the service has rejected.
  std::shared_ptr<HttpProvider> provider_;
  ProviderSettings filled_;
  bool is_retired_ = false;
  std::shared_ptr<LiveProvider> successor_;
};

}  // namespace agw
