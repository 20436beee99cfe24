#include "features/engine/chosen_models.hpp"

#include <algorithm>
#include <ranges>
#include <variant>

#include "base/async/assert.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"

namespace agw {

namespace {

/// Replaces a model whose service was deleted or disabled by the fallbacks, or else by the default model.
void fall_back(const Models& models, ChosenModels& chosen) {
  if (chosen.choices.empty()) {
    const auto usual = models.resolve({});
    const auto* choice = std::get_if<ModelChoice>(&usual);
    if (!choice) return;
    chosen.choices.push_back(*choice);
  }
  log::warn("{} cannot be called: {}; asking {} instead", chosen.model, chosen.problem, chosen.choices.front().id());
  chosen.model = chosen.choices.front().id();
  chosen.problem.clear();
  AGW_ASSERT(!chosen.model.empty());
}

}  // namespace

ChosenModels choose_models(const Models& models, const Run& run, const Extension& agent) {
  const auto& definition = agent.definition.members();
  const auto wanted = string_member(run.order, "model").value_or(string_member(definition, "model").value_or(""));
  const auto resolved = models.resolve(wanted);
  ChosenModels chosen;
  if (const auto* choice = std::get_if<ModelChoice>(&resolved)) {
    chosen.choices.push_back(*choice);
    chosen.model = choice->id();
  } else {
    chosen.model = wanted.empty() ? models.default_model() : wanted;
    chosen.problem = std::get<NotConfigured>(resolved).message;
  }
  for (auto& fallback : models.resolve_fallbacks(strings_of(definition, "fallback_models"))) {
    chosen.choices.push_back(fallback);
  }
  if (!chosen.problem.empty() && std::get<NotConfigured>(resolved).is_gone) fall_back(models, chosen);
  AGW_ASSERT(!chosen.problem.empty() || !chosen.choices.empty());
  return chosen;
}

void drop_incapable_fallbacks(ChosenModels& chosen, const CallSettings& settings) {
  if (chosen.choices.empty()) return;
  ModelRequest asked;
  asked.options = settings.options;
  const auto fallbacks = std::ranges::subrange(chosen.choices.begin() + 1, chosen.choices.end());
  const auto dropped =
      std::ranges::remove_if(fallbacks, [&](const auto& choice) { return choice.provider->unsupported(asked); });
  chosen.choices.erase(dropped.begin(), dropped.end());
}

}  // namespace agw
