#pragma once

#include <string>
#include <vector>

#include "features/extensions/types.hpp"
#include "features/runs/types.hpp"
#include "models/catalog.hpp"

namespace agw {

/// What is to answer, the first of `choices` before its fallbacks. `model` names it, also where it cannot be asked;
/// then `problem` says what to do about it.
struct ChosenModels {
  std::vector<ModelChoice> choices;
  std::string model;
  std::string problem;
};

/// The model of the message, else the agent's, else the default; then the agent's fallbacks.
ChosenModels choose_models(const Models& models, const Run& run, const Extension& agent);

}  // namespace agw
