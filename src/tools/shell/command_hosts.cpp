#include "tools/shell/command_hosts.hpp"

#include "base/async/assert.hpp"

namespace agw {

namespace {

/// Bounds memory: a command can try any number of hosts.
constexpr std::size_t max_hosts = 1000;

}  // namespace

CommandHosts::CommandHosts(Loop& loop, const ToolCall& call, const ShellCommand& command)
    : call_(call),
      command_(command.shown.empty() ? command.command : command.shown),
      needs_network_(command.network),
      answered_(loop) {}

Task<HostVerdict> CommandHosts::judge(HostPort target) {
  const auto text = target.text();
  while (asking_) co_await answered_.wait();
  if (const auto found = judged_.find(text); found != judged_.end()) co_return found->second;
  if (judged_.size() >= max_hosts)
    co_return HostVerdict{.reason = "permission denied: a command reaches 1000 hosts at most"};
  struct Turn {
    explicit Turn(CommandHosts& of) : hosts(of) {
      AGW_ASSERT(!hosts.asking_);
      hosts.asking_ = true;
    }
    ~Turn() {
      AGW_ASSERT(hosts.asking_);
      hosts.asking_ = false;
      hosts.answered_.pulse();
    }
    CommandHosts& hosts;
  };
  const Turn turn(*this);
  auto verdict = co_await ask(text);
  AGW_ASSERT(!judged_.contains(text));  // a person is asked once
  judged_[text] = verdict;
  co_return verdict;
}

Task<HostVerdict> CommandHosts::ask(const std::string& target) const {
  const auto permission = co_await call_.permit({.host = target, .command = command_, .needs_network = needs_network_});
  co_return HostVerdict{.allowed = permission.verdict == Permission::Verdict::allowed,
                        .reason = permission.reason,
                        .may_be_private = permission.names_host};
}

void CommandHosts::note(const HostPort& target, const HostVerdict& verdict) {
  const auto name = target.text() + (verdict.allowed ? "" : " refused");
  if (contacted_.size() >= max_hosts && !contacted_.contains(name)) return;
  auto& host = contacted_[name];
  host = {.host = target.host,
          .port = target.port,
          .allowed = verdict.allowed,
          .reason = verdict.allowed ? std::string() : verdict.reason,
          .connections = host.connections + 1};
  AGW_ASSERT(contacted_.size() <= max_hosts);
}

std::vector<ContactedHost> CommandHosts::contacted() const {
  std::vector<ContactedHost> hosts;
  hosts.reserve(contacted_.size());
  for (const auto& [name, host] : contacted_) hosts.push_back(host);
  return hosts;
}

}  // namespace agw
