#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"
#include "features/context/service.hpp"
#include "features/costs/types.hpp"
#include "features/runs/service.hpp"
#include "models/model.hpp"

namespace agw {

struct EngineServices;
struct Completion;
struct Extension;

/// The position in an answer where tools were called.
struct StepMark {
  std::int64_t text_end = 0;  ///< in code points
  std::vector<std::string> tool_call_ids;
};

/// A call of a model, for the picture of what a run did.
struct ModelCall {
  std::string model;                     ///< `<provider>/<model>` that was asked last
  std::chrono::milliseconds at{};        ///< when it was made, from the run's beginning
  std::chrono::milliseconds duration{};  ///< with the pauses between tries
  Usage usage;
  double cost_usd = 0;
};

/// A call of a tool that does more than read, or that does not exist, whether it succeeded or not.
struct SideEffect {
  std::string tool;
  std::string result;
};

/// The member of an order, and of the answer's metadata, with the model that the message named.
inline constexpr std::string_view named_model_member = "named_model";

/// How a run ended, before it is stored.
struct RunOutcome {
  bool stopped = false;
  std::string finish_reason = "stop";  ///< of the event `finish`
  std::string error;                   ///< for people; empty: none
  bool provider_failed = false;        ///< the error is the model provider's
  std::string model;                   ///< `<provider>/<model>` that answered
  Usage usage;
  std::int64_t context_tokens = 0;  ///< of the latest model call: what it read and wrote
  double cost_usd = 0;
  std::vector<Spending> spendings;  ///< of its model calls, those that are not stored yet
  std::vector<StepMark> steps;
  std::vector<StepThoughts> thoughts;          ///< in the form in which services take them back
  std::vector<ModelCall> model_calls;          ///< in order
  std::vector<std::string> suggestions;        ///< see ModelReply
  std::optional<SideEffect> last_side_effect;  ///< no value: the agent has only read
  bool partial = false;                        ///< stopped, or the stream broke
  std::chrono::milliseconds duration{};
  std::chrono::milliseconds reasoned{};  ///< the part of it in which models wrote down what they think
};

/// The member `usage` of events and metadata.
json::object usage_members(const Usage& usage);
/// The metadata of the assistant's turn. `reasoning`: what its models thought, of which the beginning is kept.
json::object turn_metadata(const Run& run, const RunOutcome& outcome, std::string_view reasoning);
/// The members of the event `finish`.
json::object finish_members(const Run& run, const RunOutcome& outcome);
/// The part of the metadata that is known during the run: `model`, `usage`, `cost_usd`.
json::object progress_members(const RunOutcome& outcome);
/// The metadata of the answer of a killed run. `model` is used if no model had begun to answer.
json::object interrupted_metadata(const InterruptedRun& interrupted, const std::string& model);

/// Updates the run's outcome by that of a model call. `anything_came`: text or reasoning had been streamed.
void apply_model_outcome(RunOutcome& outcome, const ModelOutcome& model_outcome, bool anything_came);

/// Adds usage and cost of a model call to the outcome. A call that was refused before it used a token is ignored.
void record_usage(RunOutcome& outcome, const EngineServices& services, const Extension& agent,
                  const std::string& thread_id, const Completion& completion);

}  // namespace agw
