#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/containers.hpp"
#include "features/agents/types.hpp"
#include "features/extensions/types.hpp"
#include "features/runs/service.hpp"
#include "features/threads/types.hpp"
#include "tools/tool.hpp"

namespace agw {

/// A row of `GET /modes`. Modes are built in.
struct ModeDetail {
  std::string name;
  std::string label;
  std::string color;
  std::string description;
  std::string systemPrompt;
  std::optional<std::vector<std::string>> allowedTools;  ///< null: all
  bool requiresApproval = false;
};
const Description& describe(Tag<ModeDetail>);

/// The kind of access that a tool needs, as named in a capability's `scopes`. `prompt` and `builtin` actions need none.
enum class ToolScope { read, write, execute, network };
std::span<const EnumName> names(Tag<ToolScope>);

/// The limits that an agent's own record and its capabilities set, in addition to its stage. No value: no limit.
struct AgentLimits {
  std::optional<std::set<std::string, std::less<>>> tools;  ///< allowed by both the agent and its capabilities

  // The union of everything that its capabilities allow.
  std::optional<std::vector<std::string>>
      paths;  ///< absolute, each including everything below it; `*` matches any text
  std::optional<std::set<ToolScope>> scopes;
  std::optional<std::vector<std::string>> hosts;  ///< names, `*.example.org`, or `*` for all
  std::optional<Stage> stage;                     ///< the highest
};

/// A person's permission that lasts longer than one call: a tool, and the `grant_pattern` of its targets.
struct GrantedPattern {
  std::string tool;
  std::string pattern;
};
using GrantedPatterns = std::shared_ptr<const std::vector<GrantedPattern>>;

/// One tool call, with everything that its permission depends on.
struct ToolRequest {
  Stage stage{};  ///< of the run: see `run_stage`
  ThreadMode mode{};
  int depth = 0;  ///< length of the chain of runs that led to this one; 0: a person started it
  AgentLimits limits{};
  ToolKind kind = ToolKind::own;
  std::string tool{};
  ToolTarget target{};
  std::string own_file{};  ///< the one file that the run may write, in any directory; empty: none

  // Permissions that people add. They never allow anything that stage sovereign would not.

  GrantedPatterns grants{};              ///< null: none
  std::optional<ToolTarget> approved{};  ///< the target for which a person approved this call
  bool may_ask = false;                  ///< a person can be asked
};

/// Whether the call is of one of these tools of the gateway itself.
inline bool is_own_tool(const ToolRequest& request, std::initializer_list<std::string_view> tools) {
  return request.kind == ToolKind::own && contains(tools, request.tool);
}

/// Whether the call runs a program in the sandbox, for which each host needs permission.
inline bool runs_program(const ToolRequest& request) {
  return is_own_tool(request, {"Bash"}) || request.kind == ToolKind::shell_action || request.kind == ToolKind::program;
}

/// A program that an app or integration keeps running, with the properties that determine the hosts it may reach.
struct ProgramHosts {
  std::string name;                           ///< of the extension
  Source source{};                            ///< of the extension
  std::optional<std::string> owner_agent_id;  ///< the agent that made it
  std::optional<std::vector<std::string>>
      hosts{};  ///< `hosts` of its definition, as in capabilities; no value: no list

  bool operator==(const ProgramHosts&) const = default;
};

/// How deeply runs started by Delegate and RunJob may nest.
inline constexpr int max_run_depth = 3;

/// The limits that a run started by Delegate or RunJob inherits from the calling run; a run started by a person has the
/// defaults. Stored in the run's order.
struct InheritedLimits {
  std::optional<Stage> stage;      ///< of the calling run
  std::optional<ThreadMode> mode;  ///< of the calling run
  int depth = 0;                   ///< as in ToolRequest
};
/// The member of an order that contains the inherited limits.
inline constexpr std::string_view inherited_limits_member = "handed_down";

/// The member of a run's order that contains the one file that the run may write, in any directory.
inline constexpr std::string_view own_file_member = "own_file";

/// An agent in a run: everything that the permissions of its tool calls depend on.
struct RunningAgent {
  ExtensionPointer agent;
  ThreadMode mode{};
  InheritedLimits inherited;
  bool dry = false;    ///< calls that do more than read are only reported
  AgentLimits limits;  ///< as of the run's start
  ToolRun run;
  std::string own_file{};          ///< see ToolRequest
  ActiveRunPointer asks_in{};      ///< the run of a person's message that led to this one; null: no person is asked
  std::string asks_thread{};       ///< the thread of that run; empty: none
  bool asks_permission = false;    ///< false: the agent's record or the configuration disables it
  DeferredTools deferred_tools{};  ///< the tools that FindTools searches
};
using RunningAgentPointer = std::shared_ptr<const RunningAgent>;

}  // namespace agw
