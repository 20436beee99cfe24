#include "features/engine/permission.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/describe.hpp"
#include "features/engine/modes.hpp"

namespace agw {

namespace {

struct OwnTool {
  std::string_view name;
  Stage stage;
  ToolScope scope;
};

/// The least stage at which a tool of the gateway does something by itself, and what it does.
constexpr std::array own_tools{OwnTool{"Read", Stage::apprentice, ToolScope::read},
                               OwnTool{"Glob", Stage::apprentice, ToolScope::read},
                               OwnTool{"Grep", Stage::apprentice, ToolScope::read},
                               OwnTool{"WebFetch", Stage::apprentice, ToolScope::network},
                               OwnTool{"WebSearch", Stage::apprentice, ToolScope::network},
                               OwnTool{"SearchTurns", Stage::apprentice, ToolScope::read},
                               OwnTool{"SearchKnowledge", Stage::apprentice, ToolScope::read},
                               OwnTool{"ListExtensions", Stage::apprentice, ToolScope::read},
                               OwnTool{"ReadSkill", Stage::apprentice, ToolScope::read},
                               OwnTool{"Propose", Stage::apprentice, ToolScope::write},
                               OwnTool{"Write", Stage::operating, ToolScope::write},
                               OwnTool{"Edit", Stage::operating, ToolScope::write},
                               OwnTool{"Bash", Stage::operating, ToolScope::execute},
                               OwnTool{"Remember", Stage::operating, ToolScope::write},
                               OwnTool{"Ingest", Stage::operating, ToolScope::write},
                               OwnTool{"RunJob", Stage::operating, ToolScope::execute},
                               OwnTool{"Delegate", Stage::operating, ToolScope::execute},
                               OwnTool{"CreateExtension", Stage::trusted, ToolScope::write},
                               OwnTool{"UpdateExtension", Stage::trusted, ToolScope::write}};

/// What a call needs: a stage, and a scope of capabilities.
struct Demand {
  Stage stage;
  std::optional<ToolScope> scope;
};

/// Nothing where there is no such tool.
std::optional<Demand> demand_of(const ToolRequest& request) {
  switch (request.kind) {
    case ToolKind::own: {
      const auto* const found = std::ranges::find(own_tools, request.tool, &OwnTool::name);
      if (found == own_tools.end()) return std::nullopt;
      return Demand{found->stage, found->scope};
    }
    case ToolKind::prompt_action:
    case ToolKind::builtin_action:
      return Demand{Stage::apprentice, std::nullopt};
    case ToolKind::shell_action:
      return Demand{Stage::operating, ToolScope::execute};
    case ToolKind::http_action:
    case ToolKind::mcp_action:
    case ToolKind::integration:
      return Demand{Stage::trusted, ToolScope::network};
  }
  return std::nullopt;
}

bool is_own(const ToolRequest& request, std::initializer_list<std::string_view> tools) {
  return request.kind == ToolKind::own && std::ranges::find(tools, request.tool) != tools.end();
}

bool reads_files(const ToolRequest& request) { return is_own(request, {"Read", "Glob", "Grep", "Ingest"}); }
bool writes_files(const ToolRequest& request) { return is_own(request, {"Write", "Edit"}); }
bool changes_extensions(const ToolRequest& request) { return is_own(request, {"CreateExtension", "UpdateExtension"}); }
bool executes(const ToolRequest& request) {
  return is_own(request, {"Bash"}) || request.kind == ToolKind::shell_action;
}

Permission denied(const std::string& why) {
  return {.verdict = Permission::Verdict::denied, .reason = "permission denied: " + why};
}
Permission staged() { return {.verdict = Permission::Verdict::staged}; }

Permission needs(Stage stage, std::string_view what) {
  return denied(fmt::format("{} needs an agent of stage {}, which a person sets with PATCH /agents/<name>/stage", what,
                            to_text(stage)));
}

Stage stage_of(const ToolRequest& request) {
  return request.limits.stage ? std::min(request.stage, *request.limits.stage) : request.stage;
}

bool has_scope(const AgentLimits& limits, ToolScope scope) { return !limits.scopes || limits.scopes->contains(scope); }

Permission needs_scope(const ToolRequest& request, ToolScope scope) {
  return denied(
      fmt::format("{} needs the scope {}, which the agent's capabilities leave out; a person adds it to their `scopes`",
                  request.tool, to_text(scope)));
}

bool opens_all_paths(const AgentLimits& limits) {
  return !limits.paths ||
         std::ranges::any_of(*limits.paths, [](const auto& path) { return path == "/" || path == "/*"; });
}

/// What the agent's own record and the mode leave of the tools.
std::optional<Permission> narrowed(const ToolRequest& request, std::optional<ToolScope> scope) {
  const auto& mode = mode_named(request.mode);
  if (mode.allowedTools && std::ranges::find(*mode.allowedTools, request.tool) == mode.allowedTools->end()) {
    return denied(fmt::format("{} is not available in {} mode; a person switches the thread to act mode", request.tool,
                              mode.name));
  }
  if (request.limits.tools && !request.limits.tools->contains(request.tool)) {
    return denied(
        fmt::format("{} is not among the tools of this agent; a person adds it to its `tools` and "
                    "`capabilities`",
                    request.tool));
  }
  if (scope && !has_scope(request.limits, *scope)) return needs_scope(request, *scope);
  if (executes(request) && !opens_all_paths(request.limits)) {
    return denied(
        fmt::format("a command cannot be held to the paths of the agent's capabilities, so {} is not "
                    "available; a person widens those",
                    request.tool));
  }
  if (is_own(request, {"RunJob", "Delegate"}) && request.depth >= deepest_run) {
    return denied(fmt::format("work is handed down {} runs deep at most; do it in this one", deepest_run));
  }
  return std::nullopt;
}

/// Places that no stage opens, and those that the agent's capabilities leave out.
std::optional<Permission> closed_place(const ToolRequest& request) {
  const auto& target = request.target;
  if (!target.place || !(reads_files(request) || writes_files(request))) return std::nullopt;
  const bool writes = writes_files(request);
  if (!is_readable(*target.place)) {
    return denied(
        fmt::format("no agent may {} this file at any stage; a person can paste what is needed into the "
                    "chat",
                    writes ? "write" : "read"));
  }
  if (writes && *target.place == FilePlace::guarded) {
    return denied("no agent writes .git/hooks, .git/config or .agents/ at any stage; a person changes them by hand");
  }
  if (request.limits.paths && !path_matches(target.path, *request.limits.paths)) {
    return denied("this file is not among the paths of the agent's capabilities; a person widens those");
  }
  return std::nullopt;
}

std::optional<Permission> closed_host(const ToolRequest& request) {
  const auto& host = request.target.host;
  if (host && !has_scope(request.limits, ToolScope::network)) return needs_scope(request, ToolScope::network);
  if (!host || !request.limits.hosts || host_matches(*host, *request.limits.hosts)) return std::nullopt;
  return denied(fmt::format("{} is not among the hosts of the agent's capabilities; a person widens those", *host));
}

Permission may_write(const ToolRequest& request, Stage stage) {
  if (stage == Stage::apprentice) return staged();
  switch (request.target.place.value_or(FilePlace::never)) {
    case FilePlace::project:
    case FilePlace::workspace:
      return {};
    case FilePlace::own_soul:
      return stage == Stage::sovereign ? Permission{} : needs(Stage::sovereign, "writing the own soul");
    default:
      return denied(
          "only files of the thread's project and of the agent's own workspace are written; use Propose for "
          "others, or have a person make their folder the thread's project");
  }
}

Permission may_fetch(const ToolRequest& request, Stage stage) {
  if (stage >= Stage::trusted || request.target.url_was_named) return {};
  return denied(
      "below stage trusted only those URLs are fetched that the person wrote or a search found in this thread; "
      "ask for the URL, or have its host added to tools.web_fetch.allow_hosts");
}

/// For what a sandbox cannot filter by host, capabilities with hosts must leave all of them open, and those with scopes
/// must name the network.
bool may_reach_network(const ToolRequest& request, Stage stage) {
  const auto& hosts = request.limits.hosts;
  return stage >= Stage::trusted && has_scope(request.limits, ToolScope::network) &&
         (!hosts || std::ranges::find(*hosts, "*") != hosts->end());
}

Permission may_change_extension(const ToolRequest& request, Stage stage) {
  if (stage < Stage::trusted) return staged();
  if (request.tool == "UpdateExtension" && !request.target.record_is_own) return staged();
  return {.disables_record = stage < Stage::sovereign};
}

}  // namespace

BOOST_DESCRIBE_ENUM(ToolScope, read, write, execute, network)
std::span<const EnumName> names(Tag<ToolScope>) { return enum_names<ToolScope>(); }

bool host_matches(std::string_view host, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](std::string_view pattern) {
    if (pattern == "*" || pattern == host) return true;
    return pattern.starts_with("*.") && host.ends_with(pattern.substr(1)) && host.size() >= pattern.size();
  });
}

bool path_matches(std::string_view path, const std::vector<std::string>& patterns) {
  const std::string text(path);
  return std::ranges::any_of(patterns, [&](std::string pattern) {
    if (pattern.ends_with('/')) pattern.pop_back();
    return ::fnmatch(pattern.c_str(), text.c_str(), FNM_NOESCAPE) == 0 ||
           ::fnmatch((pattern + "/*").c_str(), text.c_str(), FNM_NOESCAPE) == 0;
  });
}

Permission permission_for(const ToolRequest& request) {
  const auto demand = demand_of(request);
  if (!demand) return denied(fmt::format("there is no tool {}", request.tool));
  if (const auto found = narrowed(request, demand->scope)) return *found;
  if (const auto found = closed_place(request)) return *found;
  if (const auto found = closed_host(request)) return *found;
  const auto stage = stage_of(request);
  if (writes_files(request)) return may_write(request, stage);
  if (changes_extensions(request)) return may_change_extension(request, stage);
  if (stage < demand->stage) return needs(demand->stage, request.tool);
  if (is_own(request, {"WebFetch"}) || (is_own(request, {"Ingest"}) && request.target.host)) {
    return may_fetch(request, stage);
  }
  if (executes(request)) return {.network = may_reach_network(request, stage)};
  return {};
}

bool is_offered(const ToolRequest& request) {
  const auto demand = demand_of(request);
  if (!demand || narrowed(request, demand->scope)) return false;
  return stage_of(request) >= demand->stage || writes_files(request) || changes_extensions(request);
}

Stage run_stage(Stage agent, std::optional<Stage> starter) { return starter ? std::min(agent, *starter) : agent; }

ThreadMode delegate_mode(ThreadMode caller, std::optional<ThreadMode> agent) {
  return agent == ThreadMode::plan ? ThreadMode::plan : caller;
}

}  // namespace agw
