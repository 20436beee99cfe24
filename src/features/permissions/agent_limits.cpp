#include <algorithm>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "features/permissions/service.hpp"
#include "tools/shell/shell.hpp"

namespace agw {

namespace {

using Names = std::vector<std::string>;

/// The strings of a list; no value if there is no list.
std::optional<Names> names_in(const json::object& definition, std::string_view member) {
  const auto* list = array_member(definition, member);
  return list ? std::optional(strings_of(*list)) : std::nullopt;
}

template <class List>
void add(std::optional<List>& all, const std::optional<Names>& more) {
  if (!more) return;
  if (!all) all.emplace();
  for (const auto& name : *more) all->insert(all->end(), name);
}

void narrow(std::optional<std::set<std::string, std::less<>>>& tools, const std::optional<Names>& allowed) {
  if (!allowed) return;
  if (!tools) {
    tools.emplace(allowed->begin(), allowed->end());
    return;
  }
  std::erase_if(*tools, [&](const auto& tool) { return !contains(*allowed, tool); });
}

/// Ignores names that are not in ToolScope: they are notes for people.
void add_scopes(std::optional<std::set<ToolScope>>& all, const std::optional<Names>& more) {
  for (const auto& name : more.value_or(Names{})) {
    const auto scope = from_text<ToolScope>(name);
    if (!scope) continue;
    if (!all) all.emplace();
    all->insert(*scope);
  }
}

std::string absolute_path(const std::string& path, const FileRoots& roots) {
  if (path == "~" || path.starts_with("~/")) return (roots.home / path.substr(std::min<std::size_t>(2, path.size())));
  return (roots.working_directory() / path).lexically_normal();
}

void add_capability(AgentLimits& limits, const json::object& definition, const FileRoots& roots) {
  add(limits.tools, names_in(definition, "tools"));
  add_scopes(limits.scopes, names_in(definition, "scopes"));
  add(limits.hosts, hosts_in(definition));
  auto paths = names_in(definition, "paths");
  if (paths) {
    for (auto& path : *paths) path = absolute_path(path, roots);
  }
  add(limits.paths, paths);
  const auto name = string_member(definition, "stage");
  const auto stage = name ? from_text<Stage>(*name) : std::nullopt;
  if (stage) limits.stage = std::max(limits.stage.value_or(Stage::apprentice), *stage);
}

}  // namespace

AgentLimits agent_limits(const Extension& agent, const Extensions& extensions, const FileRoots& roots) {
  AgentLimits limits;
  const auto& definition = agent.definition.members();
  const auto capabilities = names_in(definition, "capabilities").value_or(Names{});
  for (const auto& name : capabilities) {
    const auto capability = extensions.find(ExtensionType::capability, name);
    if (capability && capability->enabled)
      add_capability(limits, capability->definition.members(), roots);
    else if (!capability && is_host_preset(name))
      add(limits.hosts, std::optional(preset_hosts(name)));
    else
      add(limits.tools, Names{});
  }
  narrow(limits.tools, names_in(definition, "tools"));
  return limits;
}

std::function<ShellLimits(std::string_view)> shell_limits_from(const Extensions& extensions) {
  return [&extensions](std::string_view agent_id) {
    const auto agent = extensions.find_agent(agent_id);
    return agent ? shell_limits(agent->definition.members()) : ShellLimits{};
  };
}

}  // namespace agw
