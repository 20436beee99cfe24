#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "features/context/service.hpp"
#include "features/engine/engine_services.hpp"
#include "features/engine/outcome.hpp"
#include "features/engine/repeat_guard.hpp"
#include "features/permissions/service.hpp"
#include "models/retry.hpp"

namespace agw {

/// The agent loop of one run: prepares the model's input, streams its output, makes the tool calls it requests and
/// feeds their results back, until it requests none. Used on the loop, by one coroutine.
class AgentLoop {
public:
  /// Tries the models of `choices` (at least one) in order. `run` fills in `outcome`. `asks_in`: see RunningAgent.
  AgentLoop(const EngineServices& services, ModelLimits& limits, ActiveRunPointer active, ExtensionPointer agent,
            std::vector<ModelChoice> choices, ActiveRunPointer asks_in, RunOutcome& outcome);

  Task<> run();

private:
  bool may_continue(std::int64_t calls);
  Task<> prepare();
  Task<> take_messages();
  Task<std::vector<ToolUse>> ask();
  Task<> call_tools(std::vector<ToolUse> uses);
  Task<> keep_step(RunStep step);
  std::vector<std::string> end_step(StepMark& mark, const std::vector<Message>& results);
  void record_usage(const Completion& completion);
  void time_reasoning(bool reasons);
  const Extension& agent() const { return *caller_->agent; }

  const EngineServices& services_;
  const ActiveRunPointer active_;
  const std::shared_ptr<RunningAgent> caller_;
  ContextWindow window_;
  RunOutcome& outcome_;
  RepeatGuard repeats_;
  std::chrono::steady_clock::time_point asked_at_{};                    ///< start of the latest model call
  std::optional<std::chrono::steady_clock::time_point> reasons_since_;  ///< no value: it is not reasoning
  bool needs_separator_ = false;                                        ///< before the next text, if any, of the model
};

}  // namespace agw
