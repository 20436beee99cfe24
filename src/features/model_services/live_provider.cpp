#include "features/model_services/live_provider.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "models/call_features.hpp"
#include "models/service_definition.hpp"

namespace agw {

FilledService fill_in(const Secrets& secrets, ProviderSettings settings) {
  try {
    const auto secret = std::string(secret_named_by(settings.api_key));
    settings.api_key = secrets.expand(settings.api_key);
    if (!settings.api_key.empty()) {
      if (const auto problem = key_problem(settings.api_key); !problem.empty()) {
        return {.problem = fmt::format("the secret {} {}", secret, problem)};
      }
    }
    for (auto& header : settings.headers) {
      header.value = secrets.expand(header.value);
      if (header.value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
        return {.problem = fmt::format("the secret in the header {} holds a line end: store it again as one line",
                                       header.name)};
      }
    }
  } catch (const SecretError& error) {
    return {.problem = error.what()};
  }
  return {.settings = std::move(settings)};
}

LiveProvider::LiveProvider(HttpClient& http, BlockingPool& blocking, const Secrets& secrets, ProviderSettings settings,
                           std::chrono::milliseconds idle_timeout, std::function<void()> on_use)
    : http_(http),
      blocking_(blocking),
      secrets_(secrets),
      settings_(std::move(settings)),
      idle_timeout_(idle_timeout),
      on_use_(std::move(on_use)) {}

void LiveProvider::retire(std::shared_ptr<LiveProvider> successor) {
  AGW_ASSERT(!is_retired_);
  AGW_ASSERT(successor.get() != this);
  is_retired_ = true;
  successor_ = std::move(successor);
}

Task<LiveProvider::Prepared> LiveProvider::prepare() {
  if (is_retired_) co_return co_await prepare_retired();
  on_use_();
  auto filled =
      co_await blocking_.run([&secrets = secrets_, settings = settings_] { return fill_in(secrets, settings); });
  if (is_retired_) co_return co_await prepare_retired();
  if (!filled.problem.empty()) co_return cannot_be_called(filled.problem);
  co_return provider_for(std::move(filled.settings));
}

Task<LiveProvider::Prepared> LiveProvider::prepare_retired() {
  AGW_ASSERT(is_retired_);
  if (provider_) co_return provider_;
  if (successor_) co_return co_await successor_->prepare();
  co_return cannot_be_called("it was deleted or disabled");
}

ModelFailure LiveProvider::cannot_be_called(std::string_view problem) const {
  ModelFailure made;
  made.kind = ModelFailure::Kind::refused;
  made.message = fmt::format("{} cannot be called: {}", settings_.name, problem);
  return made;
}

Task<ModelOutcome> LiveProvider::answer(const ModelRequest& request, const OnDelta& on_delta, StopSource& stop) {
  const auto prepared = co_await prepare();
  if (const auto* failure = std::get_if<ModelFailure>(&prepared)) co_return *failure;
  co_return co_await std::get<0>(prepared)->answer(request, on_delta, stop);
}

Task<std::variant<json::object, ModelFailure>> LiveProvider::embed(json::object body, StopSource& stop) {
  const auto prepared = co_await prepare();
  if (const auto* failure = std::get_if<ModelFailure>(&prepared)) co_return *failure;
  co_return co_await std::get<0>(prepared)->embed(std::move(body), stop);
}

const CallFeature* LiveProvider::unsupported(const ModelRequest& request) const {
  return unsupported_feature(request, complete(settings_));
}

std::shared_ptr<HttpProvider> LiveProvider::provider_for(ProviderSettings filled) {
  // The secrets of a retired provider stay those of its last call.
  AGW_ASSERT(!is_retired_);
  if (!provider_ || filled.api_key != filled_.api_key || filled.headers != filled_.headers) {
    filled_ = filled;
    provider_ = std::make_shared<HttpProvider>(http_, blocking_, std::move(filled), idle_timeout_);
  }
  return provider_;
}

}  // namespace agw
