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

/// Whether an agent may make that call: stage, mode, the agent's tools and its capabilities must all allow it. What
/// only the stage forbids is allowed, with the rights of the lowest stage that allows it, by a person's yes or grant;
/// without one the person is asked, if somebody is there. Pure.
/// Example: src/features/permissions/permission_test.cpp: PermissionFor.ModeAndStageMustBothAllow
Permission permission_for(const ToolRequest& request);

/// Whether the model is offered a tool at all: some call of it could be allowed or staged, or a person could allow it.
bool is_offered(const ToolRequest& request);

/// The pattern that a grant for such calls would store: `git status *`, `/home/x/project/`, `pypi.org`, the name of a
/// tool. No value for calls that can be allowed only once each.
std::optional<std::string> grant_pattern(const ToolRequest& request);
/// Whether one of the request's grants matches it.
bool is_granted(const ToolRequest& request);
/// What a call acts on, as persons are shown it: a path, a command, a host, else the tool's name.
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

/// The limits that an agent's `tools` and `capabilities` set. Capabilities add up: the agent may use what any of them
/// declares. A missing or disabled one declares an empty list of tools, so that deleting it grants nothing. Relative
/// paths start at the working directory of `roots`, those with `~` at home.
AgentLimits agent_limits(const Extension& agent, const Extensions& extensions, const FileRoots& roots);

/// The limits stored in a run's `order`. A member that cannot be read counts as the strictest value.
InheritedLimits inherited_limits_in(const json::object& order);

/// A call of `tool` by that agent, without a target yet. The stage is the agent's current one, not that of the run's
/// start.
ToolRequest tool_request(const RunningAgent& caller, const Stages& stages, const Tool& tool);

/// The hosts that an extension's definition allows its program.
ProgramHosts program_hosts(const Extension& extension);
/// Whether a program may reach `host:port`. A person's may reach all public hosts, or those that its definition lists.
/// One that an agent made is held to what its definition lists and to its owner's capabilities, too; what it lists
/// itself is at no private address.
Permission program_permission(const ProgramHosts& program, const Extensions& extensions, const std::string& host);
/// The rules of such a program's network. `refused` is called with the reason, once for each host.
ProxyPolicy program_policy(ProgramHosts program, const Extensions& extensions,
                           std::function<void(std::string reason)> refused);

/// Match `patterns` of a capability's `hosts` and `paths`.
bool host_matches(std::string_view host, const std::vector<std::string>& patterns);
bool path_matches(std::string_view path, const std::vector<std::string>& patterns);

/// The hosts that `name` stands for in a capability's `hosts`: those of a package registry or service (`npm`, `pypi`,
/// `github`, `debian`, `crates`, `go`). Any other name is a host itself.
std::vector<std::string> preset_hosts(const std::string& name);
/// Whether it is one of those names. An agent may name them as capabilities, too, unless there is one of that name.
bool is_host_preset(std::string_view name);

/// The member `hosts` of a capability or program, with what presets stand for; no value if there is no list.
std::optional<std::vector<std::string>> hosts_in(const json::object& definition);

/// Whether a list of hosts names this host's loopback, at any port.
bool names_loopback(const std::optional<std::vector<std::string>>& hosts);

/// Reads the sandbox limits of the agent with an id from its record; none for an unknown agent. `extensions` must
/// outlive the result.
std::function<ShellLimits(std::string_view agent_id)> shell_limits_from(const Extensions& extensions);

}  // namespace agw
