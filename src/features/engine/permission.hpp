#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "features/agents/types.hpp"
#include "features/threads/types.hpp"
#include "tools/tool.hpp"

namespace agw {

/// What a tool does, in words that a capability's `scopes` may name. `prompt` and `builtin` actions need none of them.
enum class ToolScope { read, write, execute, network };
std::span<const EnumName> names(Tag<ToolScope>);

/// What an agent narrows itself to, beside its stage. Nothing given means no limit.
struct AgentLimits {
  std::optional<std::set<std::string, std::less<>>> tools;  ///< of the agent and of its capabilities, both

  // What its capabilities say, together.
  std::optional<std::vector<std::string>> paths;  ///< absolute; each with what lies beneath it; `*` stands for any text
  std::optional<std::set<ToolScope>> scopes;
  std::optional<std::vector<std::string>> hosts;  ///< names, `*.example.org`, or `*` for all
  std::optional<Stage> stage;                     ///< a ceiling
};

/// The gateway's rules for the hosts `patterns` and `paths` of capabilities.
bool host_matches(std::string_view host, const std::vector<std::string>& patterns);
bool path_matches(std::string_view path, const std::vector<std::string>& patterns);

/// One call of a tool, and everything that decides on it.
struct ToolRequest {
  Stage stage{};  ///< of the run: see `run_stage`
  ThreadMode mode{};
  int depth = 0;  ///< how many runs this one was handed down through; 0 for a person's
  AgentLimits limits{};
  ToolKind kind = ToolKind::own;
  std::string tool{};
  ToolTarget target{};
};

/// Whether an agent may make that call: the meet of stage, mode, the agent's tools and its capabilities. Pure.
Permission permission_for(const ToolRequest& request);

/// Whether the model is told of a tool at all: some call of it could be allowed or staged.
bool is_offered(const ToolRequest& request);

/// The stage of a run that another one started by Delegate or RunJob: the lower of both.
Stage run_stage(Stage agent, std::optional<Stage> starter);
/// The mode of a run that Delegate started: the caller's, or plan where that is the other agent's.
ThreadMode delegate_mode(ThreadMode caller, std::optional<ThreadMode> agent);

/// How many runs deep Delegate and RunJob go.
inline constexpr int deepest_run = 3;

}  // namespace agw
