#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "io/blocking.hpp"
#include "io/sandbox.hpp"
#include "tools/tool.hpp"

namespace agw {

/// What an agent's record says of its sandbox. It can only tighten.
struct ShellLimits {
  bool network = true;
  std::optional<std::int64_t> memory_mb{};
  std::optional<std::chrono::milliseconds> timeout{};
};

/// Reads the object `sandbox` of an agent's definition; what is missing or makes no sense limits nothing.
ShellLimits shell_limits(const json::object& definition);

/// One command for the shell. What comes from a model goes into the environment or the input, where no shell reads it
/// as a command.
struct ShellCommand {
  std::string command;
  std::chrono::seconds time{120};
  std::map<std::string, std::string> environment{};
  std::string input{};  ///< its standard input
};

/// Runs commands of agents in the sandbox, in the run's project or the agent's workspace, which they can write.
class Shell {
public:
  /// `limits` are those of the agent with that id.
  Shell(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox,
        std::function<ShellLimits(std::string_view agent_id)> limits);

  static constexpr std::chrono::seconds longest_time{600};

  /// Asks `call.judge` first, for the permission and the network. Its output, cut in the middle, and the exit code; an
  /// error for another one than 0, and where the command ran too long.
  Task<ToolOutcome> run(const ToolCall& call, ShellCommand command);

  /// The gateway stops: a command that is deaf to SIGTERM is killed sooner from now on.
  void hurry() { hurry_.request(); }

private:
  Task<ToolOutcome> run_wrapped(const ToolCall& call, ShellCommand command, Permission permission, ShellLimits limits,
                                std::chrono::milliseconds time);
  SandboxWish wish_for(const ToolRun& run, const Permission& permission, const ShellLimits& limits,
                       std::map<std::string, std::string> environment) const;

  Loop& loop_;
  BlockingPool& blocking_;
  const Sandbox& sandbox_;
  std::function<ShellLimits(std::string_view)> limits_;
  Stop hurry_;
};

}  // namespace agw
