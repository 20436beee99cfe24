#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "features/costs/types.hpp"
#include "features/runs/service.hpp"
#include "models/model.hpp"

namespace agw {

/// Where tools were called in an answer.
struct StepMark {
  std::int64_t text_end = 0;  ///< in code points
  std::vector<std::string> tool_call_ids;
};

/// A call of a tool that does more than look, or that is not there; whatever came of it.
struct Act {
  std::string tool;
  std::string result;
};

/// The member of an order, and of its answer's metadata, that holds the model that the message named.
inline constexpr std::string_view named_model_member = "named_model";

/// How the making of an answer ended, before it is stored.
struct RunOutcome {
  bool stopped = false;
  std::string finish_reason = "stop";  ///< of the event `finish`
  std::string error;                   ///< for people; empty for none
  bool provider_failed = false;        ///< the error is its
  std::string model;                   ///< `<provider>/<model>` that answered
  Usage usage;
  double cost_usd = 0;
  std::vector<Spending> spendings;  ///< of its model calls, as far as they are not stored yet
  std::vector<StepMark> steps;
  std::optional<Act> last_act;  ///< none where the agent has only looked
  bool partial = false;         ///< cut off: stopped, or a stream that broke
  std::chrono::milliseconds duration{};
};

/// The member `usage` of all that tells of a run.
json::object usage_members(const Usage& usage);
/// The metadata of the assistant's turn.
json::object turn_metadata(const Run& run, const RunOutcome& outcome);
/// The members of the event `finish`.
json::object finish_members(const Run& run, const RunOutcome& outcome);
/// What of the metadata is known while the answer is made: `model`, `usage`, `cost_usd`.
json::object progress_members(const RunOutcome& outcome);
/// The metadata of what a killed run left. `model` is the one that was to answer, in case that none had begun.
json::object interrupted_metadata(const InterruptedRun& interrupted, const std::string& model);

/// Takes over into the run's outcome how a model call ended.
void take_over(RunOutcome& outcome, const ModelOutcome& model_outcome, bool anything_came);

}  // namespace agw
