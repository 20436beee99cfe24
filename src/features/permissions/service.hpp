#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/agents/service.hpp"
#include "features/extensions/service.hpp"
#include "features/permissions/types.hpp"
#include "io/proxy/proxied_network.hpp"

namespace agw {

struct ShellLimits;

/// Whether an agent may make the call: stage, mode, the agent's tools and its capabilities must all allow it. If only
/// the stage forbids it, a person's approval or grant allows it with the rights of the lowest stage that would; without
/// either, the person is asked, if one can be reached. A pure function.
/// Example: src/features/permissions/permission_test.cpp: PermissionFor.ModeAndStageMustBothAllow
Permission permission_for(const ToolRequest& request);

/// Whether to offer the tool to the model: some call of it could be allowed or staged, or a person could allow one.
bool is_offered(const ToolRequest& request);

/// The pattern that a grant for the call would store: `git status *`, `/home/x/project/`, `pypi.org`, the name of a
/// tool. No value for a call that can only be allowed once.
std::optional<std::string> grant_pattern(const ToolRequest& request);
/// Whether one of the request's grants matches it.
bool is_granted(const ToolRequest& request);
/// The target of a call, for display: a path, a command, a host, else the tool's name.
std::string shown_target(const ToolRequest& request);

/// The names of the gateway's own tools.
std::vector<std::string_view> own_tool_names();

/// The stage of a run that another run started by Delegate or RunJob: the lower of both.
Stage run_stage(Stage agent, std::optional<Stage> starter);
/// The mode of a run that Delegate started: the caller's, or plan if the other agent's is plan.
ThreadMode delegate_mode(ThreadMode caller, std::optional<ThreadMode> agent);

/// All modes: plan, act.
const std::vector<ModeDetail>& modes();
const ModeDetail& mode_detail(ThreadMode mode);

/// The limits that an agent's `tools` and `capabilities` set. Capabilities are combined: the agent may use everything
/// that any of them declares. A missing or disabled one counts as an empty list of tools, so that deleting a capability
/// grants nothing. Relative paths start at the working directory of `roots`, those with `~` at home.
AgentLimits agent_limits(const Extension& agent, const Extensions& extensions, const FileRoots& roots);

/// The limits stored in a run's `order`. An invalid member counts as the strictest value.
InheritedLimits inherited_limits_in(const json::object& order);

/// A call of `tool` by the agent, without a target yet. Uses the agent's current stage, not that at the run's start.
ToolRequest tool_request(const RunningAgent& caller, const Stages& stages, const Tool& tool);

/// The hosts that an extension's definition allows its program.
ProgramHosts program_hosts(const Extension& extension);
/// Whether a program may reach `host:port`. A program made by a person may reach all public hosts, or only those that
/// its definition lists. One made by an agent may reach only hosts that both its definition and its owner's
/// capabilities allow; listing a host does not allow it a private address.
Permission program_permission(const ProgramHosts& program, const Extensions& extensions, const std::string& host);
/// The rules of the program's network. Calls `refused` with the reason, once for each refused host.
ProxyPolicy program_policy(ProgramHosts program, const Extensions& extensions,
                           std::function<void(std::string reason)> refused);

// Match against `patterns`, the `hosts` and `paths` of a capability.
bool host_matches(std::string_view host, const std::vector<std::string>& patterns);
bool path_matches(std::string_view path, const std::vector<std::string>& patterns);

/// The hosts that `name` means in a capability's `hosts`: those of a package registry or service for its preset (`npm`,
/// `pypi`, `github`, `debian`, `crates`, `go`), otherwise the host of that name.
std::vector<std::string> preset_hosts(const std::string& name);
/// Whether `name` is such a preset. An agent may also list presets as capabilities, unless a capability has that name.
bool is_host_preset(std::string_view name);

/// The member `hosts` of a capability or program, with presets expanded; no value if there is no list.
std::optional<std::vector<std::string>> hosts_in(const json::object& definition);

/// Whether a list of hosts contains the loopback of this machine, with any port.
bool names_loopback(const std::optional<std::vector<std::string>>& hosts);

/// Returns a function that reads an agent's sandbox limits from its record; an unknown agent has none. `extensions`
/// must outlive the result.
std::function<ShellLimits(std::string_view agent_id)> shell_limits_from(const Extensions& extensions);

}  // namespace agw
