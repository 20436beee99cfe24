#include "features/engine/chosen_models.hpp"

#include <variant>

#include "base/json/json_values.hpp"

namespace agw {

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
  return chosen;
}

}  // namespace agw
