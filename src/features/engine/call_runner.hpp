#pragma once

#include <functional>
#include <string>
#include <vector>

#include "features/agents/service.hpp"
#include "features/engine/running_agent.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "tools/tool_set.hpp"

namespace agw {

/// How deep the input of a call may nest: what it becomes a part of (turns, lists of them, events) is to be within what
/// clients can read.
inline constexpr std::size_t deepest_input = max_json_depth - 8;

/// Stages a change of the run's agent for a person to decide on; gives the proposal's reference.
using StageLink = std::function<Task<std::string>(const ToolRun& run, StagedChange change)>;

/// Runs the tools that models ask for: checks the input, asks whether the agent may, bounds the call, tells of it, and
/// stores what came of it as a turn.
class CallRunner {
public:
  CallRunner(Loop& loop, Runs& runs, Threads& threads, const Stages& stages, const ToolSet& tools);

  /// What becomes of a change that is staged. Until it is set, staging is an error of the call.
  void stage_with(StageLink link) { stage_ = std::move(link); }

  /// What is waited for before an agent in act mode is told of its tools: integrations just enabled, which connect.
  void settle_with(std::function<Task<>(Stop& stop)> link) { settle_ = std::move(link); }
  Task<> settle(const RunningAgent& caller, Stop& stop) const;

  /// The tools that the model is told of, by name.
  std::vector<ToolDescription> offered(const RunningAgent& caller) const;

  /// What a run that this one starts is told of it: see ToolRun.
  json::object handed_on(const RunningAgent& caller) const;

  /// Whether these calls change nothing.
  bool only_read(const std::vector<ToolUse>& uses) const;

  /// Whether the agent may call that tool with that target now.
  bool may_call(const RunningAgent& caller, const std::string& tool_name, const ToolTarget& target) const;

  /// Whether a call of that name counts as an act: its tool does more than look, or is not there.
  bool acts(const std::string& tool_name) const;

  /// Makes the calls of one step, side by side where all only read. Gives their results in the order of the calls: of
  /// one that the run's stop left unbegun there is none.
  Task<std::vector<Message>> run(ActiveRunPointer active, RunningAgentPointer caller, std::vector<ToolUse> uses);

private:
  struct StepCalls;

  Task<> work(StepCalls& step);
  Task<Message> call(const StepCalls& step, const ToolUse& use, ToolPointer tool);
  Task<ToolOutcome> outcome_of(const StepCalls& step, const ToolUse& use, ToolPointer tool);
  Task<ToolOutcome> make(const StepCalls& step, const ToolUse& use, const Tool& tool, ToolRequest request);
  Task<std::string> stage(const ToolRun& run, StagedChange change);

  Loop& loop_;
  Runs& runs_;
  Threads& threads_;
  const Stages& stages_;
  const ToolSet& tools_;
  StageLink stage_;
  std::function<Task<>(Stop& stop)> settle_;
};

}  // namespace agw
