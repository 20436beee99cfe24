#pragma once

#include <string>
#include <vector>

#include "features/extensions/types.hpp"
#include "features/runs/types.hpp"
#include "models/catalog.hpp"

namespace agw {

/// The models for a run: the chosen one first, then its fallbacks. `model` is the id of the chosen one, even if it
/// cannot be called; `problem` then tells the user what to do.
struct ChosenModels {
  std::vector<ModelChoice> choices;
  std::string model;
  std::string problem;
};

/// The model of the message, else the agent's, else the default; then the agent's fallbacks. If the service of a model
/// was deleted or disabled, the fallbacks or else the default model replace it.
ChosenModels choose_models(const Models& models, const Run& run, const Extension& agent);

/// Removes the fallbacks that do not support the settings of a client program.
void drop_incapable_fallbacks(ChosenModels& chosen, const CallSettings& settings);

}  // namespace agw
