#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "features/costs/types.hpp"
#include "features/runs/service.hpp"
#include "models/model.hpp"

namespace agw {

/// How the making of an answer ended, before it is stored.
struct RunOutcome {
  bool stopped = false;
  std::string finish_reason = "stop";  ///< of the event `finish`
  std::string error;                   ///< for people; empty for none
  std::string model;                   ///< `<provider>/<model>` that answered
  Usage usage;
  double cost_usd = 0;
  std::vector<Spending> spendings;  ///< of its model calls, to be stored with its end
  bool partial = false;             ///< cut off: stopped, or a stream that broke
  std::chrono::milliseconds duration{};
};

/// The metadata of the assistant's turn.
json::object turn_metadata(const Run& run, const RunOutcome& outcome);
/// The members of the event `finish`.
json::object finish_members(const Run& run, const RunOutcome& outcome);
/// The metadata of what a killed run left.
json::object interrupted_metadata(const Run& run);

/// Takes a model's outcome over into the run's.
void take_over(RunOutcome& outcome, const ModelOutcome& model_outcome, bool anything_came);

}  // namespace agw
