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

/// The position in an answer at which tools were called.
struct StepMark {
  std::int64_t text_end = 0;  ///< in code points
  std::vector<std::string> tool_call_ids;
};

/// A call of a model, for the timeline of a run.
struct ModelCall {
  std::string model;                     ///< `<provider>/<model>`, the last one tried
  std::chrono::milliseconds at{};        ///< start, relative to the run's
  std::chrono::milliseconds duration{};  ///< includes pauses between retries
  Usage usage;
  double cost_usd = 0;
};

/// A call, successful or not, of a tool that does more than read or does not exist.
struct SideEffect {
  std::string tool;
  std::string result;
};

/// The member of a run's order and of the answer's metadata that contains the model named by the message.
inline constexpr std::string_view named_model_member = "named_model";

/// How a run ended, before it is stored.
struct RunOutcome {
  bool stopped = false;
  std::string finish_reason = "stop";  ///< of the event `finish`
  std::string error;                   ///< for people; empty: none
  bool provider_failed = false;        ///< the error is the model provider's
  std::string model;                   ///< `<provider>/<model>` that answered
  Usage usage;
  std::int64_t context_tokens = 0;  ///< of the latest model call: input and output
  double cost_usd = 0;
  std::vector<Spending> spendings;  ///< of its model calls, as far as not stored yet
  std::vector<StepMark> steps;
  std::vector<StepThoughts> thoughts;          ///< in the form that services accept back
  std::vector<ModelCall> model_calls;          ///< in order
  std::vector<std::string> suggestions;        ///< see ModelReply
  std::optional<SideEffect> last_side_effect;  ///< no value: the agent has only read
  bool partial = false;                        ///< stopped, or the stream broke
  std::chrono::milliseconds duration{};
  std::chrono::milliseconds reasoned{};  ///< the part of `duration` in which models streamed reasoning
};

/// The member `usage` of events and metadata.
json::object usage_members(const Usage& usage);
/// The metadata of the assistant's turn. Contains the beginning of `reasoning`.
json::object turn_metadata(const Run& run, const RunOutcome& outcome, std::string_view reasoning);
/// The members of the event `finish`.
json::object finish_members(const Run& run, const RunOutcome& outcome);
/// The part of the metadata that is known during the run: `model`, `usage`, `cost_usd`.
json::object progress_members(const RunOutcome& outcome);
/// The metadata of the answer of a killed run. `model` is used if no model had begun to answer.
json::object interrupted_metadata(const InterruptedRun& interrupted, const std::string& model);

/// Updates the run's outcome with the outcome of a model call. `has_streamed`: the call has streamed text or reasoning.
void apply_model_outcome(RunOutcome& outcome, const ModelOutcome& model_outcome, bool has_streamed);

/// Adds the usage and cost of a model call to the outcome. Ignores a call that was refused before it used a token.
void record_usage(RunOutcome& outcome, const EngineServices& services, const Extension& agent,
                  const std::string& thread_id, const Completion& completion);

}  // namespace agw
