// Decides whether an agent may make a call: one pure function. See docs/design/permissions.md, "One pure function
// decides".
//
// The *limits* are the thread's mode, the agent's `tools`, and its capabilities (scopes, paths, hosts). The *stage* is
// how far the agent is trusted; it never exceeds that of the run that started this one. A *target* is the file, host or
// command that the call acts on.
//
// `permission_for` checks, in this order:
//
//   1. Do the limits allow the tool?  No: denied.
//   2. Do they allow the target, and is its place accessible at all stages?  No: denied.
//   3. Is the target the one file that research asks the agent to change?  Yes: allowed.
//   4. Does the stage allow the call?  Yes: allowed. Otherwise it is denied, or staged as a proposal.
//   5. Would a higher stage allow it?  Then a person's approval or a grant allows it with the rights of the lowest such
//      stage. Without either, the person is asked, if one can be reached.
//
// Why it cannot be bypassed: steps 1 and 2 only deny and come first, so no stage, approval or grant exceeds the limits.
// Step 5 gives at most the rights of some stage, so an approval in one thread cannot give an agent more than a person
// could have given it permanently. Only there, because a person decides, may a call exceed the stage that its run has
// inherited. The function depends only on its argument, so permission_test.cpp and asking_test.cpp can try thousands of
// combinations.

#include <fnmatch.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

struct BuiltinTool {
  std::string_view name;
  Stage stage;
  std::optional<ToolScope> scope;
};

/// The gateway's own tools: the lowest stage at which each acts without a person's approval, and its scope.
constexpr std::array builtin_tools{BuiltinTool{"Read", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"Glob", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"Grep", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"WebFetch", Stage::apprentice, ToolScope::network},
                                   BuiltinTool{"WebSearch", Stage::apprentice, ToolScope::network},
                                   BuiltinTool{"SearchTurns", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"SearchKnowledge", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"ListExtensions", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"ReadSkill", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"FindTools", Stage::apprentice, std::nullopt},
                                   BuiltinTool{"AskUser", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"Tasks", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"SendFile", Stage::apprentice, ToolScope::read},
                                   BuiltinTool{"Propose", Stage::apprentice, ToolScope::write},
                                   BuiltinTool{"Write", Stage::operating, ToolScope::write},
                                   BuiltinTool{"Edit", Stage::operating, ToolScope::write},
                                   BuiltinTool{"Bash", Stage::operating, ToolScope::execute},
                                   BuiltinTool{"Remember", Stage::operating, ToolScope::write},
                                   BuiltinTool{"Ingest", Stage::operating, ToolScope::write},
                                   BuiltinTool{"RunJob", Stage::operating, ToolScope::execute},
                                   BuiltinTool{"Delegate", Stage::operating, ToolScope::execute},
                                   BuiltinTool{"CreateExtension", Stage::trusted, ToolScope::write},
                                   BuiltinTool{"UpdateExtension", Stage::trusted, ToolScope::write}};

static_assert(Stage::apprentice < Stage::operating);
static_assert(Stage::operating < Stage::trusted);
static_assert(Stage::trusted < Stage::sovereign);
// What executes or writes needs trust, except for what only a person's decision puts into effect.
static_assert(std::ranges::all_of(builtin_tools, [](const BuiltinTool& tool) {
  const bool changes = tool.scope == ToolScope::execute || tool.scope == ToolScope::write;
  return !changes || tool.stage >= Stage::operating || tool.name == "Propose";
}));
static_assert(std::ranges::all_of(builtin_tools, [](const BuiltinTool& tool) {
  return std::ranges::count(builtin_tools, tool.name, &BuiltinTool::name) == 1;
}));

/// The stage and scope that an agent needs for a call.
struct Requirements {
  Stage stage;
  std::optional<ToolScope> scope;
};

/// No value if there is no such tool.
std::optional<Requirements> requirements_of(const ToolRequest& request) {
  switch (request.kind) {
    case ToolKind::own: {
      const auto* const found = std::ranges::find(builtin_tools, request.tool, &BuiltinTool::name);
      if (found == builtin_tools.end()) return std::nullopt;
      return Requirements{found->stage, found->scope};
    }
    case ToolKind::prompt_action:
    case ToolKind::builtin_action:
      return Requirements{Stage::apprentice, std::nullopt};
    case ToolKind::shell_action:
      return Requirements{Stage::operating, ToolScope::execute};
    case ToolKind::http_action:
    case ToolKind::mcp_action:
    case ToolKind::integration:
    case ToolKind::program:
      return Requirements{Stage::trusted, ToolScope::network};
  }
  return std::nullopt;
}

bool reads_files(const ToolRequest& request) {
  return is_own_tool(request, {"Read", "Glob", "Grep", "Ingest", "SendFile"});
}
bool writes_files(const ToolRequest& request) { return is_own_tool(request, {"Write", "Edit"}); }
bool changes_extensions(const ToolRequest& request) {
  return is_own_tool(request, {"CreateExtension", "UpdateExtension"});
}
/// The `host` of `host:port`, with the brackets of an IPv6 address.
std::string_view without_port(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto bracket = text.rfind(']');
  const bool has_port = colon != text.npos && (bracket == text.npos ? text.find(':') == colon : bracket < colon);
  return has_port ? text.substr(0, colon) : text;
}

Permission denied(const std::string& why) {
  AGW_ASSERT(!why.empty());
  return {.verdict = Permission::Verdict::denied, .reason = "permission denied: " + why};
}
Permission staged() { return {.verdict = Permission::Verdict::staged}; }

Permission denied_below(Stage stage, std::string_view what) {
  return denied(fmt::format("{} needs an agent of stage {}, which a person sets with PATCH /agents/<name>/stage", what,
                            to_text(stage)));
}

Stage stage_of(const ToolRequest& request) {
  return request.limits.stage ? std::min(request.stage, *request.limits.stage) : request.stage;
}

bool has_scope(const AgentLimits& limits, ToolScope scope) { return !limits.scopes || limits.scopes->contains(scope); }

Permission denied_without_scope(const ToolRequest& request, ToolScope scope) {
  return denied(
      fmt::format("{} needs the scope {}, which the agent's capabilities leave out; a person adds it to their `scopes`",
                  request.tool, to_text(scope)));
}

bool opens_all_paths(const AgentLimits& limits) {
  return !limits.paths ||
         std::ranges::any_of(*limits.paths, [](const auto& path) { return path == "/" || path == "/*"; });
}

/// The denial if the mode, the agent's tools or its capabilities forbid the tool; no value if they allow it.
std::optional<Permission> restricted_by_limits(const ToolRequest& request, std::optional<ToolScope> scope) {
  const auto& mode = mode_detail(request.mode);
  if (mode.allowedTools && !contains(*mode.allowedTools, request.tool)) {
    return denied(fmt::format("{} is not available in {} mode; a person switches the thread to act mode", request.tool,
                              mode.name));
  }
  // FindTools only finds tools that the agent may use, so every agent with deferred tools may call it.
  const bool finds_tools = is_own_tool(request, {find_tools_name});
  if (request.limits.tools && !finds_tools && !request.limits.tools->contains(request.tool)) {
    return denied(
        fmt::format("{} is not among the tools of this agent; a person adds it to its `tools` and "
                    "`capabilities`",
                    request.tool));
  }
  if (scope && !has_scope(request.limits, *scope)) return denied_without_scope(request, *scope);
  if (runs_program(request) && !opens_all_paths(request.limits)) {
    return denied(
        fmt::format("a command cannot be held to the paths of the agent's capabilities, so {} is not "
                    "available; a person widens those",
                    request.tool));
  }
  if (is_own_tool(request, {"RunJob", "Delegate"}) && request.depth >= max_run_depth) {
    return denied(fmt::format("work is handed down {} runs deep at most; do it in this one", max_run_depth));
  }
  return std::nullopt;
}

/// The denial if the target is inaccessible at every stage, or outside the paths of the agent's capabilities.
std::optional<Permission> restricted_by_path(const ToolRequest& request) {
  const auto& target = request.target;
  if (!target.place || !(reads_files(request) || writes_files(request))) return std::nullopt;
  const bool writes = writes_files(request);
  if (*target.place == FilePlace::outside) {
    return denied(
        fmt::format("no agent may {} files outside of the home directory; a path without a leading / starts at the "
                    "working directory",
                    writes ? "write" : "read"));
  }
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

std::optional<Permission> restricted_by_host(const ToolRequest& request) {
  const auto& host = request.target.host;
  if (host && !has_scope(request.limits, ToolScope::network)) return denied_without_scope(request, ToolScope::network);
  if (!host || !request.limits.hosts || host_matches(*host, *request.limits.hosts)) return std::nullopt;
  if (request.kind == ToolKind::program)
    return denied(
        fmt::format("{} is not among the hosts that {} may reach; a person adds it to the `hosts` of its "
                    "definition, and of its owner's capabilities if it has an owner",
                    *host, request.tool));
  return denied(fmt::format("{} is not among the hosts of the agent's capabilities; a person widens those", *host));
}

Permission may_write(const ToolRequest& request, Stage stage) {
  AGW_ASSERT(writes_files(request));
  if (stage == Stage::apprentice) return staged();
  switch (request.target.place.value_or(FilePlace::never)) {
    case FilePlace::project:
    case FilePlace::workspace:
      return {};
    case FilePlace::own_soul:
      return stage == Stage::sovereign ? Permission{} : denied_below(Stage::sovereign, "writing the own soul");
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

/// Whether the capabilities let commands use the network at all. Each host is also checked when a command reaches it.
bool capabilities_open_network(const ToolRequest& request) {
  return has_scope(request.limits, ToolScope::network) && (!request.limits.hosts || !request.limits.hosts->empty());
}

/// Whether a capability allows the host although its address is private. A name suffices only if public name servers do
/// not serve it. The owner of any other name could point it at any address, so the capability must list the address.
bool names_private_host(const ToolRequest& request) {
  if (!request.limits.hosts) return false;
  const auto host = std::string_view(*request.target.host);
  const auto name = without_port(host);
  constexpr std::array<std::string_view, 5> private_ends{".local", ".lan", ".internal", ".home.arpa", ".localhost"};
  const bool is_address = name.starts_with('[') || name.find_first_not_of("0123456789.") == name.npos;
  const bool is_private_name =
      name.find('.') == name.npos || std::ranges::any_of(private_ends, [&](auto end) { return name.ends_with(end); });
  return (is_address || is_private_name) && std::ranges::any_of(*request.limits.hosts, [&](const auto& pattern) {
           return pattern == host || pattern == name;
         });
}

Permission may_execute(const ToolRequest& request, Stage stage) {
  AGW_ASSERT(runs_program(request));
  AGW_ASSERT(opens_all_paths(request.limits));
  const bool is_open = capabilities_open_network(request);
  const bool network = stage >= Stage::trusted && is_open;
  AGW_ASSERT(!network || has_scope(request.limits, ToolScope::network));
  if (network && request.target.host) return {.network = true, .names_host = names_private_host(request)};
  if (request.target.host && is_open)
    return denied_below(Stage::trusted, "a command that reaches " + *request.target.host);
  const bool loopback = names_loopback(request.limits.hosts);
  if (!network && is_open && !request.target.needs_network && (request.may_ask || request.grants))
    return {.asks_hosts = true, .names_loopback = loopback};
  if (network || !request.target.needs_network) return {.network = network, .names_loopback = loopback};
  if (stage < Stage::trusted) return denied_below(Stage::trusted, "a command with network");
  return denied("the agent's capabilities give its commands no network; a person widens those");
}

Permission may_change_extension(const ToolRequest& request, Stage stage) {
  AGW_ASSERT(changes_extensions(request));
  if (stage < Stage::trusted) return staged();
  if (request.tool == "UpdateExtension" && !request.target.record_is_own) return staged();
  return {.disables_record = stage < Stage::sovereign};
}

}  // namespace

bool host_matches(std::string_view target, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](std::string_view pattern) {
    // A pattern without a port matches all ports.
    const auto host = without_port(pattern) == pattern ? without_port(target) : target;
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

namespace {

/// The permission at that stage, for a call that mode and capabilities allow.
Permission permission_at(const ToolRequest& request, const Requirements& requirements, Stage stage) {
  AGW_ASSERT(!requirements.scope || has_scope(request.limits, *requirements.scope));
  AGW_ASSERT(!restricted_by_host(request));
  AGW_ASSERT(!restricted_by_path(request));
  AGW_ASSERT(!request.limits.stage || stage <= *request.limits.stage);
  if (writes_files(request)) return may_write(request, stage);
  if (changes_extensions(request)) return may_change_extension(request, stage);
  if (stage < requirements.stage) return denied_below(requirements.stage, request.tool);
  if (is_own_tool(request, {"WebFetch"}) || (is_own_tool(request, {"Ingest"}) && request.target.host)) {
    return may_fetch(request, stage);
  }
  if (runs_program(request)) return may_execute(request, stage);
  return {};
}

/// The lowest stage above `stage` that allows the call.
std::optional<Stage> stage_that_allows(const ToolRequest& request, const Requirements& requirements, Stage stage) {
  const auto highest = request.limits.stage.value_or(Stage::sovereign);
  AGW_ASSERT(stage <= highest);
  for (const auto higher : {Stage::operating, Stage::trusted, Stage::sovereign}) {
    if (higher <= stage || higher > highest) continue;
    if (permission_at(request, requirements, higher).verdict == Permission::Verdict::allowed) return higher;
  }
  return std::nullopt;
}

/// Whether a person approved this call. The approval covers only the target that the person saw.
bool is_approved(const ToolRequest& request) {
  if (!request.approved) return false;
  // Tools of integrations and actions are approved for all targets, but commands only for the approved one.
  if (request.kind != ToolKind::own && !runs_program(request)) return true;
  const auto& approved = *request.approved;
  const auto& target = request.target;
  // Approving a command with network access approves its hosts.
  const bool is_host_of_command = target.host && !approved.host && approved.needs_network && target.needs_network;
  if (is_host_of_command && approved.command == target.command) return true;
  return approved.place == target.place && approved.path == target.path && approved.host == target.host &&
         approved.record_is_own == target.record_is_own && approved.command == target.command &&
         approved.needs_network == target.needs_network;
}

/// Extends the permission of the stage, `found`, by a person's approval or grant.
Permission with_persons(const ToolRequest& request, const Requirements& requirements, Stage stage, Permission found) {
  AGW_ASSERT(found.verdict == Permission::Verdict::denied || found.verdict == Permission::Verdict::staged);
  if (!request.may_ask && !request.approved && !request.grants) return found;
  const auto needed = stage_that_allows(request, requirements, stage);
  AGW_ASSERT(!needed || *needed > stage);
  if (!needed) return found;
  if (is_approved(request) || is_granted(request)) {
    auto allowed = permission_at(request, requirements, *needed);
    AGW_ASSERT(allowed.verdict == Permission::Verdict::allowed);
    return allowed;
  }
  if (!request.may_ask) return found;
  const auto host = runs_program(request) && request.target.host ? "this command wants " + *request.target.host + ": "
                                                                 : std::string();
  const auto rule = fmt::format("{}{} needs an agent of stage {} here, and this one is {}", host, request.tool,
                                to_text(*needed), to_text(stage));
  if (found.reason.empty()) found.reason = "permission denied: " + rule;
  AGW_ASSERT(found.verdict != Permission::Verdict::allowed && found.verdict != Permission::Verdict::ask);
  return {.verdict = Permission::Verdict::ask, .reason = found.reason, .otherwise = found.verdict, .rule = rule};
}

/// Whether the highest stage would allow the call, too: people's permissions must not exceed that.
bool is_within_highest(const ToolRequest& request, const Requirements& requirements, const Permission& found) {
  if (found.verdict == Permission::Verdict::denied || found.verdict == Permission::Verdict::staged) return true;
  const auto highest = request.limits.stage.value_or(Stage::sovereign);
  return permission_at(request, requirements, highest).verdict == Permission::Verdict::allowed;
}

bool is_own_file(const ToolRequest& request) {
  return writes_files(request) && !request.own_file.empty() && request.target.path == request.own_file;
}

}  // namespace

Permission permission_for(const ToolRequest& request) {
  const auto requirements = requirements_of(request);
  if (!requirements) return denied(fmt::format("there is no tool {}", request.tool));
  if (const auto found = restricted_by_limits(request, requirements->scope)) return *found;
  if (const auto found = restricted_by_path(request)) return *found;
  if (const auto found = restricted_by_host(request)) return *found;
  if (is_own_file(request)) return {};
  const auto stage = stage_of(request);
  auto found = permission_at(request, *requirements, stage);
  AGW_ASSERT(found.verdict != Permission::Verdict::ask);
  if (found.verdict != Permission::Verdict::allowed)
    found = with_persons(request, *requirements, stage, std::move(found));
  AGW_ASSERT(found.verdict != Permission::Verdict::ask || request.may_ask);
  // A refusal says what to do.
  AGW_ASSERT(found.verdict != Permission::Verdict::denied || !found.reason.empty());
  AGW_ASSERT(found.verdict != Permission::Verdict::staged || writes_files(request) || changes_extensions(request));
  AGW_ASSERT(!found.network || runs_program(request));
  AGW_ASSERT(!found.network || capabilities_open_network(request));
  AGW_ASSERT(!found.asks_hosts || runs_program(request));
  AGW_ASSERT(!found.names_host || request.target.host);
  AGW_ASSERT(!found.disables_record || changes_extensions(request));
  AGW_ASSERT(is_within_highest(request, *requirements, found));
  return found;
}

bool is_offered(const ToolRequest& request) {
  const auto requirements = requirements_of(request);
  if (!requirements || restricted_by_limits(request, requirements->scope)) return false;
  if (stage_of(request) >= requirements->stage || writes_files(request) || changes_extensions(request)) return true;
  if (request.limits.stage.value_or(Stage::sovereign) < requirements->stage) return false;
  return request.may_ask || (request.grants && contains(*request.grants, request.tool, &GrantedPattern::tool));
}

std::vector<std::string_view> own_tool_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(builtin_tools));
  for (const auto& tool : builtin_tools) names.push_back(tool.name);
  return names;
}

Stage run_stage(Stage agent, std::optional<Stage> starter) { return starter ? std::min(agent, *starter) : agent; }

ThreadMode delegate_mode(ThreadMode caller, std::optional<ThreadMode> agent) {
  return agent == ThreadMode::plan ? ThreadMode::plan : caller;
}

}  // namespace agw
