// The hosts that programs of apps and integrations may reach.

#include <cstddef>
#include <memory>
#include <set>
#include <utility>

#include "base/async/assert.hpp"
#include "features/permissions/service.hpp"

namespace agw {

namespace {

/// Programs can try an unlimited number of hosts.
constexpr std::size_t max_noted_hosts = 1000;

/// Uses a stage that does not restrict the program, because a person installed or enabled it.
Permission judged(const ProgramHosts& program, AgentLimits limits, const std::string& host) {
  auto permission = permission_for({.stage = Stage::trusted,
                                    .mode = ThreadMode::act,
                                    .limits = std::move(limits),
                                    .kind = ToolKind::program,
                                    .tool = program.name,
                                    .target = {.host = host}});
  // Nobody is asked while a program runs.
  AGW_ASSERT(permission.verdict == Permission::Verdict::allowed || permission.verdict == Permission::Verdict::denied);
  return permission;
}

/// The agent's limits that apply to a program; all others apply only to its tools.
AgentLimits network_limits(const AgentLimits& limits) { return {.scopes = limits.scopes, .hosts = limits.hosts}; }

Task<HostVerdict> verdict_of(Permission permission) {
  co_return HostVerdict{.allowed = permission.verdict == Permission::Verdict::allowed,
                        .reason = std::move(permission.reason),
                        .may_be_private = permission.names_host};
}

}  // namespace

ProgramHosts program_hosts(const Extension& extension) {
  return {.name = extension.name,
          .source = extension.source,
          .owner_agent_id = extension.owner_agent_id,
          .hosts = hosts_in(extension.definition.members())};
}

Permission program_permission(const ProgramHosts& program, const Extensions& extensions, const std::string& host) {
  auto own = judged(program, {.hosts = program.hosts}, host);
  if (own.verdict != Permission::Verdict::allowed) return own;
  const bool is_persons = program.source == Source::user || program.source == Source::built_in;
  own.names_host = own.names_host && is_persons;
  if (program.source != Source::agent) return own;
  const auto owner = program.owner_agent_id ? extensions.find_agent(*program.owner_agent_id) : nullptr;
  if (!owner) return own;
  return judged(program, network_limits(agent_limits(*owner, extensions, {})), host);
}

ProxyPolicy program_policy(ProgramHosts program, const Extensions& extensions,
                           std::function<void(std::string reason)> refused) {
  const auto rules = std::make_shared<const ProgramHosts>(std::move(program));
  const auto noted = std::make_shared<std::set<std::string>>();
  return {.judge =
              [rules, &extensions](const HostPort& target) {
                return verdict_of(program_permission(*rules, extensions, target.text()));
              },
          .note =
              [noted, refused = std::move(refused)](const HostPort& target, const HostVerdict& verdict) {
                if (verdict.allowed || noted->size() >= max_noted_hosts || !noted->insert(target.text()).second) return;
                refused(verdict.reason);
              },
          .named_in = rules->name,
          .names_loopback = names_loopback(rules->hosts)};
}

}  // namespace agw
