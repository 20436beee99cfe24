#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/wait_clock.hpp"
#include "features/agents/service.hpp"
#include "features/approvals/service.hpp"
#include "features/attachments/service.hpp"
#include "features/context/service.hpp"
#include "features/integrations/service.hpp"
#include "features/permissions/service.hpp"
#include "features/proposals/service.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "io/process/blocking.hpp"
#include "tools/file_recorder.hpp"
#include "tools/tool.hpp"
#include "tools/tool_set.hpp"

namespace agw {

/// Runs the tool calls that models request: checks input and permission, limits the time, publishes the events and
/// stores the result as a turn.
class CallRunner {
public:
  CallRunner(Loop& loop, Runs& runs, Threads& threads, const Stages& stages, Proposals& proposals,
             Integrations& integrations, Approvals& approvals, Attachments& attachments, BlockingPool& blocking,
             const ToolSet& tools, FileRecorder& recorder);

  /// Waits for integrations that are connecting, if the agent is in act mode. Call it before `usable_tools`.
  Task<> wait_for_integrations(const RunningAgent& caller, StopSource& stop) const;

  /// The tools that the agent can use, ordered by name.
  std::vector<ToolPointer> usable_tools(const RunningAgent& caller) const;

  /// Whether the tool of that name is one of `usable_tools`.
  bool offers(const RunningAgent& caller, std::string_view tool_name) const;
  /// Why a tool is offered that the stage alone would not allow: its grants, or that a person is asked. No value if
  /// the stage allows it.
  std::optional<std::string> why_offered(const RunningAgent& caller, const std::string& tool_name) const;

  /// Whether none of these calls changes anything.
  bool are_read_only(const std::vector<ToolUse>& uses) const;

  /// Whether the agent may currently call that tool with that target.
  bool may_call(const RunningAgent& caller, const std::string& tool_name, const ToolTarget& target) const;

  /// Whether a call of that name counts as a side effect: its tool does more than read, or does not exist.
  bool has_side_effects(const std::string& tool_name) const;

  /// Makes the calls of one step, concurrently if all only read. Returns their results in the order of the calls;
  /// calls that had not begun when the run was stopped have none.
  Task<std::vector<Message>> run(ActiveRunPointer active, RunningAgentPointer caller, std::vector<ToolUse> uses);

private:
  struct StepCalls;
  struct Call;

  /// A call of the tool, without a target yet, with the grants for it and whether a person can be asked.
  ToolRequest request_of(const RunningAgent& caller, const Tool& tool) const;
  bool can_reach_person(const RunningAgent& caller) const;
  bool can_be_asked(const RunningAgent& caller) const;
  GrantedPatterns grants_of(const RunningAgent& caller) const;
  /// The limits that runs started by this one inherit: see InheritedLimits.
  json::object limits_to_inherit(const RunningAgent& caller) const;

  Task<> work(StepCalls& step);
  Task<Message> call(const StepCalls& step, const ToolUse& use, ToolPointer tool);
  Task<json::array> keep_pictures(const Run& run, const ToolUse& use, const ToolOutcome& outcome);
  Task<ToolOutcome> outcome_of(const StepCalls& step, const ToolUse& use, ToolPointer tool);
  Task<ToolOutcome> make_by_client(const StepCalls& step, const ToolUse& use, std::shared_ptr<RunClient> client);
  Task<ToolOutcome> make(const StepCalls& step, const ToolUse& use, const Tool& tool, ToolRequest request);
  Task<Permission> ask_permission(Call& call, ToolTarget target, std::string diff);
  Task<PersonAnswer> ask_person(Call& call, PersonQuestion question, StopSource& stop);
  /// The error for a call of a tool that does not exist.
  std::string no_such_tool(const RunningAgent& caller, const RunClient* client, std::string_view name) const;
  /// Returns null if no tools are deferred.
  std::function<Task<std::vector<ToolDescription>>(std::string)> tool_finder(RunningAgentPointer caller);
  Task<std::vector<ToolDescription>> find_tools(RunningAgentPointer caller, std::string query);

  Loop& loop_;
  Runs& runs_;
  Threads& threads_;
  const Stages& stages_;
  Proposals& proposals_;
  Integrations& integrations_;
  Approvals& approvals_;
  Attachments& attachments_;
  BlockingPool& blocking_;
  const ToolSet& tools_;
  FileRecorder& recorder_;
};

/// Makes the call, and ends it at the tool's time limit or when `run_stop` is requested: requests the call's own stop,
/// and cancels a tool that is still running two seconds later. Either way the result is an error. Throws what the tool
/// throws. Time that `waits` counts during the call does not count towards the limit.
Task<ToolOutcome> bounded_call(Loop& loop, const Tool& tool, const ToolCall& call, StopSource& run_stop,
                               const WaitClock& waits);

}  // namespace agw
