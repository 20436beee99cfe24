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
  bool network = true;  ///< false: none, regardless of permissions
  std::optional<std::int64_t> memory_mb{};
  std::optional<std::chrono::milliseconds> timeout{};
};

/// Reads the object `sandbox` of an agent's definition. Missing and invalid members impose no limit.
ShellLimits shell_limits(const json::object& definition);

/// A command for the shell. Pass text from a model in the environment or the input, where no shell interprets it as a
/// command.
struct ShellCommand {
  std::string command;
  std::string shown{};  ///< the command that a person sees and approves; empty: `command`
  std::chrono::seconds time{120};
  std::map<std::string, std::string> environment{};
  std::string input{};                              ///< its standard input
  bool network = false;                             ///< it requires the network; the agent's stage may not allow that
  std::shared_ptr<const ProgramSecrets> secrets{};  ///< that it uses without seeing them; requires the sandbox
};

/// Runs commands of agents in the sandbox, in the run's project or the agent's workspace, which they can write to.
class Shell {
public:
  /// `limits` returns the limits of the agent with that id. Without a recorder, changes to files are not recorded.
  Shell(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox,
        std::function<ShellLimits(std::string_view agent_id)> limits, FileRecorder* recorder = nullptr);

  static constexpr std::chrono::seconds max_time{600};

  /// Calls `call.permit` first, which decides on permission and network access. Returns the output, truncated in the
  /// middle, and the exit code. The result is an error if the exit code is not 0 or the command timed out.
  Task<ToolOutcome> run(const ToolCall& call, ShellCommand command);

  /// Call when the gateway stops: from then on, commands that ignore SIGTERM are killed sooner.
  void hurry() { hurry_.request(); }

private:
  Task<ToolOutcome> run_recorded(const ToolCall& call, ShellCommand command, Permission permission, ShellLimits limits,
                                 std::chrono::milliseconds time);
  Task<ToolOutcome> run_wrapped(const ToolCall& call, ShellCommand command, Permission permission, ShellLimits limits,
                                std::chrono::milliseconds time);
  Task<ToolOutcome> run_connected(const ToolCall& call, ShellCommand command, ShellLimits limits,
                                  SandboxNetwork* network, std::chrono::milliseconds time);
  SandboxSpec sandbox_spec_for(const ToolRun& run, const ShellLimits& limits, SandboxNetwork* network,
                               std::map<std::string, std::string> environment) const;

  Loop& loop_;
  BlockingPool& blocking_;
  const Sandbox& sandbox_;
  std::function<ShellLimits(std::string_view)> limits_;
  FileRecorder* recorder_;
  StopSource hurry_;
};

}  // namespace agw
