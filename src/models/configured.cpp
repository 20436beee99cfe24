#include <fmt/format.h>
#include <boost/describe/enum_from_string.hpp>

#include "base/log.hpp"
#include "config/settings.hpp"
#include "models/settings.hpp"

namespace agw {

ModelSettings configured_models(const Settings& settings, const Environment& environment) {
  ModelSettings models;
  models.default_model = settings.models.default_model;
  for (const auto& configured : settings.providers) {
    auto key = read_api_key(configured, environment);
    if (!key.problem.empty()) {
      key.problem = fmt::format("provider {} is not configured: {}", configured.name, key.problem);
      log::warn("{}", key.problem);
    }
    ProviderSettings provider{
        .name = configured.name,
        .base_url = configured.base_url,
        .api_key = std::move(key.value),
        .default_model = configured.default_model,
        .fallback_models = configured.fallback_models,
        .problem = std::move(key.problem),
        .source = configured.is_from_environment ? ServiceSource::environment : ServiceSource::config};
    boost::describe::enum_from_string(configured.kind.c_str(), provider.kind);
    OpenAiApi api{};
    if (boost::describe::enum_from_string(configured.api.c_str(), api)) provider.api = api;
    models.providers.push_back(std::move(provider));
  }
  return models;
}

}  // namespace agw
