#pragma once

#include <string>
#include <vector>

#include "features/extensions/types.hpp"
#include "features/runs/types.hpp"
#include "models/catalog.hpp"

namespace agw {

/// The models for a run: the chosen one first, then its fallbacks. `model` is the id of the chosen one, even if it
/// cannot be called; then `problem` says what to do.
struct ChosenModels {
  std::vector<ModelChoice> choices;
  std::string model;
  std::string problem;
};

/// The model of the message, else the agent's, else the default; then the agent's fallbacks. A model whose service was
/// deleted or disabled is left out, for the fallbacks or the default.
ChosenModels choose_models(const Models& models, const Run& run, const Extension& agent);

/// Removes the fallbacks that cannot do what a program asks for.
void drop_incapable_fallbacks(ChosenModels& chosen, const CallSettings& settings);

}  // namespace agw
