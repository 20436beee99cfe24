#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "io/process/blocking.hpp"
#include "io/proxy/program_secrets.hpp"
#include "io/sandbox/sandbox.hpp"
#include "tools/file_recorder.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The sandbox limits in an agent's record. They can only tighten the defaults.
struct ShellLimits {
  bool network = true;  ///< false: none, whatever the permissions are
  std::optional<std::int64_t> memory_mb{};
  std::optional<std::chrono::milliseconds> timeout{};
};

/// Reads the object `sandbox` of an agent's definition; missing and invalid members limit nothing.
ShellLimits shell_limits(const json::object& definition);

/// A command for the shell. Text from a model goes into the environment or the input, where no shell interprets it as a
/// command.
struct ShellCommand {
  std::string command;
  std::string shown{};  ///< the command as a person is shown it and allows it; empty: `command`
  std::chrono::seconds time{120};
  std::map<std::string, std::string> environment{};
  std::string input{};   ///< its standard input
  bool network = false;  ///< it does not work without the network, which the agent's stage may not open to it
  std::shared_ptr<const ProgramSecrets> secrets{};  ///< that it uses, but never holds; needs the sandbox
};

/// Runs commands of agents in the sandbox, in the run's project or the agent's workspace, which are writable.
class Shell {
public:
  /// `limits` returns the limits of the agent with that id. Without a recorder, changes of files are not recorded.
  Shell(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox,
        std::function<ShellLimits(std::string_view agent_id)> limits, FileRecorder* recorder = nullptr);

  static constexpr std::chrono::seconds max_time{600};

  /// Calls `call.permit` first, for the permission and the network. The result is the output, truncated in the
  /// middle, and the exit code; an error if that is not 0, and if the command timed out.
  Task<ToolOutcome> run(const ToolCall& call, ShellCommand command);

  /// The gateway stops: from now on, a command that ignores SIGTERM is killed sooner.
  void hurry() { hurry_.request(); }

private:
  Task<ToolOutcome> run_recorded(const ToolCall& call, ShellCommand command, Permission permission, ShellLimits limits,
                                 std::chrono::milliseconds time);
  Task<ToolOutcome> run_wrapped(const ToolCall& call, ShellCommand command, Permission permission, ShellLimits limits,
                                std::chrono::milliseconds time);
  Task<ToolOutcome> run_connected(const ToolCall& call, ShellCommand command, ShellLimits limits,
                                  SandboxNetwork* network, std::chrono::milliseconds time);
  SandboxSpec intent_for(const ToolRun& run, const ShellLimits& limits, SandboxNetwork* network,
                         std::map<std::string, std::string> environment) const;

  Loop& loop_;
  BlockingPool& blocking_;
  const Sandbox& sandbox_;
  std::function<ShellLimits(std::string_view)> limits_;
  FileRecorder* recorder_;
  StopSource hurry_;
};

}  // namespace agw
