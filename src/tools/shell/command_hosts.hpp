#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "io/proxy/proxied_network.hpp"
#include "tools/file_recorder.hpp"
#include "tools/shell/shell.hpp"

namespace agw {

/// Decides which hosts one command may reach, by the permissions of the call that runs it. Used on the loop.
class CommandHosts {
public:
  CommandHosts(Loop& loop, const ToolCall& call, const ShellCommand& command);

  /// Returns the verdict on a host. If the permissions require it, asks a person: one host at a time, and once per
  /// host.
  Task<HostVerdict> judge(HostPort target);
  /// Counts a connection.
  void note(const HostPort& target, const HostVerdict& verdict);
  /// The recorded hosts, sorted.
  std::vector<ContactedHost> contacted() const;

private:
  Task<HostVerdict> ask(const std::string& target) const;

  const ToolCall& call_;
  std::string command_;
  bool needs_network_;
  std::map<std::string, HostVerdict> judged_;
  std::map<std::string, ContactedHost> contacted_;
  bool asking_ = false;
  AsyncEvent answered_;
};

}  // namespace agw
