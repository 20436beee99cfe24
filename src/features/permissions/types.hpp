#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// What a tool does, as a capability's `scopes` name it. `prompt` and `builtin` actions need no scope.
enum class ToolScope { read, write, execute, network };
std::span<const EnumName> names(Tag<ToolScope>);

/// The limits that an agent's own record and its capabilities set, in addition to its stage. No value: no limit.
struct AgentLimits {
  std::optional<std::set<std::string, std::less<>>> tools;  ///< allowed by both the agent and its capabilities

  // Everything that its capabilities allow together.
  std::optional<std::vector<std::string>> paths;  ///< absolute, each including everything below it; `*`: any text
  std::optional<std::set<ToolScope>> scopes;
  std::optional<std::vector<std::string>> hosts;  ///< names, `*.example.org`, or `*`: all
  std::optional<Stage> stage;                     ///< the highest
};

/// What a person has allowed for longer than one call: a tool, and what it may act on, as `grant_pattern` names it.
struct GrantedPattern {
  std::string tool;
  std::string pattern;
};
using GrantedPatterns = std::shared_ptr<const std::vector<GrantedPattern>>;

/// One tool call, with everything that its permission depends on.
struct ToolRequest {
  Stage stage{};  ///< of the run: see `run_stage`
  ThreadMode mode{};
  int depth = 0;  ///< how many runs started one another before this one; 0: a person started it
  AgentLimits limits{};
  ToolKind kind = ToolKind::own;
  std::string tool{};
  ToolTarget target{};
  std::string own_file{};  ///< the one file that its run may write, wherever it is; empty: none

  // Permissions added by people. They never allow anything that stage sovereign would not.

  GrantedPatterns grants{};              ///< null: none
  std::optional<ToolTarget> approved{};  ///< a person said yes to this call, with that target
  bool may_ask = false;                  ///< somebody is there who can be asked
};

/// A program that an app or integration runs all the time, as far as the hosts that it may reach depend on it.
struct ProgramHosts {
  std::string name;                                 ///< of the extension
  Source source{};                                  ///< of the extension
  std::optional<std::string> owner_agent_id;        ///< the agent that made it
  std::optional<std::vector<std::string>> hosts{};  ///< `hosts` of its definition, as in capabilities; no value: none

  bool operator==(const ProgramHosts&) const = default;
};

/// How deep runs that Delegate and RunJob start may nest.
inline constexpr int max_run_depth = 3;

/// What a run that Delegate or RunJob started inherits from the run that called them; a person's run has the defaults.
/// Stored in the run's order.
struct InheritedLimits {
  std::optional<Stage> stage;      ///< of the calling run
  std::optional<ThreadMode> mode;  ///< of the calling run
  int depth = 0;                   ///< how many runs started one another before this one
};
/// The member of an order that holds them.
inline constexpr std::string_view inherited_limits_member = "handed_down";

/// The member of a run's order that names the one file that the run may write, wherever it is.
inline constexpr std::string_view own_file_member = "own_file";

/// An agent in a run: everything that the permissions of its tool calls depend on.
struct RunningAgent {
  ExtensionPointer agent;
  ThreadMode mode{};
  InheritedLimits inherited;
  bool dry = false;    ///< tools only read; other calls are reported, not made
  AgentLimits limits;  ///< when the run began
  ToolRun run;
  std::string own_file{};          ///< see ToolRequest
  ActiveRunPointer asks_in{};      ///< the run of a person's message that led to this one; null: nobody is asked
  std::string asks_thread{};       ///< the thread of that run; empty: none
  bool asks_permission = false;    ///< neither the agent's record nor the configuration turns that off
  DeferredTools deferred_tools{};  ///< those that FindTools searches
};
using RunningAgentPointer = std::shared_ptr<const RunningAgent>;

}  // namespace agw
