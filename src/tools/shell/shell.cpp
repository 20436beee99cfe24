#include "tools/shell/shell.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "io/proxy/proxied_network.hpp"
#include "tools/input.hpp"
#include "tools/opened_path.hpp"
#include "tools/shell/command_hosts.hpp"
#include "tools/shell/disk_space_monitor.hpp"
#include "tools/shell/process_count_monitor.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_output = 100'000;
constexpr std::int64_t default_memory_mb = 2048;
/// The maximum size of one argument or variable in Linux.
constexpr std::size_t max_argument_length = 131'071;

std::optional<std::int64_t> positive(const json::object& object, std::string_view name) {
  const auto value = number_input(object, name, 0, 0, std::int64_t{1} << 40);
  return value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<std::chrono::milliseconds> positive_time(const json::object& object, std::string_view name) {
  const auto* const value = object.if_contains(name);
  if (value == nullptr || !value->is_number() || value->to_number<double>() <= 0) return std::nullopt;
  constexpr auto max_ms = std::chrono::milliseconds(Shell::max_time).count();
  const auto wanted = std::clamp(value->to_number<double>() * 1000, 1.0, static_cast<double>(max_ms));
  return std::chrono::milliseconds(static_cast<std::int64_t>(wanted));
}

/// How a command ended, or why it was stopped.
struct CommandEnd {
  ProcessResult result;
  bool filled_disk = false;
  bool filled_host = false;  ///< with processes
};

ToolOutcome outcome_of(const CommandEnd& ended, std::chrono::milliseconds time) {
  const auto& result = ended.result;
  auto output = to_utf8(result.output);
  if (!output.empty() && !output.ends_with('\n')) output += '\n';
  if (result.timed_out) {
    output += fmt::format("timed out after {} s and was ended with all processes that it had started\n",
                          std::chrono::duration<double>(time).count());
  } else if (ended.filled_disk) {
    output += "was ended because it had taken half of the space that was free on the disk\n";
  } else if (ended.filled_host) {
    output += fmt::format("was ended because the host had {} more processes than when it began\n",
                          ProcessCountMonitor::max_processes);
  } else if (result.stopped) {
    output += "stopped\n";
  }
  output += fmt::format("exit code {}", result.end.exit_code);
  return {.output = std::move(output), .is_error = result.timed_out || result.stopped || result.end.exit_code != 0};
}

void require_short(const ShellCommand& command) {
  const auto is_long = [](const auto& variable) {
    return variable.first.size() + 1 + variable.second.size() > max_argument_length;
  };
  if (command.command.size() <= max_argument_length && std::ranges::none_of(command.environment, is_long)) return;
  throw BadRequest(
      fmt::format("the command, or one of its inputs, is too long: the system cannot start a program with "
                  "more than {} bytes of them; put it into a file, and use that",
                  max_argument_length));
}

std::string shell_program() {
  std::error_code missing;
  return fs::exists("/bin/bash", missing) ? "/bin/bash" : "/bin/sh";
}

}  // namespace

ShellLimits shell_limits(const json::object& definition) {
  const auto* const sandbox = definition.if_contains("sandbox");
  if (sandbox == nullptr || !sandbox->is_object()) return {};
  const auto& object = sandbox->get_object();
  const auto* const network = object.if_contains("network");
  return {.network = network == nullptr || !network->is_bool() || network->get_bool(),
          .memory_mb = positive(object, "memory_mb"),
          .timeout = positive_time(object, "timeout_s")};
}

Shell::Shell(Loop& loop, BlockingPool& blocking, const Sandbox& sandbox,
             std::function<ShellLimits(std::string_view agent_id)> limits, FileRecorder* recorder)
    : loop_(loop), blocking_(blocking), sandbox_(sandbox), limits_(std::move(limits)), recorder_(recorder) {}

SandboxSpec Shell::sandbox_spec_for(const ToolRun& run, const ShellLimits& limits, SandboxNetwork* network,
                                    std::map<std::string, std::string> environment) const {
  const auto& roots = run.roots;
  SandboxSpec spec{.directory = roots.working_directory(),
                   .writable = {roots.workspace()},
                   .network = network,
                   .environment = std::move(environment),
                   .memory_mb = std::min(limits.memory_mb.value_or(default_memory_mb), default_memory_mb)};
  if (roots.project) spec.writable.push_back(*roots.project);
  for (const auto& path :
       {roots.agent_directory(), roots.data_directory / "knowledge", roots.data_directory / "skills"}) {
    std::error_code missing;
    if (fs::is_directory(fs::symlink_status(path, missing))) spec.readable.push_back(path);
  }
  return spec;
}

Task<ToolOutcome> Shell::run(const ToolCall& call, ShellCommand command) {
  require_short(command);
  if (command.secrets && !sandbox_.is_enabled()) throw BadRequest(no_secrets_without_sandbox);
  const auto& shown = command.shown.empty() ? command.command : command.shown;
  const auto permission = co_await call.permit({.command = shown, .needs_network = command.network});
  if (permission.verdict != Permission::Verdict::allowed) co_return refusal(permission);
  const auto limits = limits_(call.run.agent_id);
  const auto time = std::min<std::chrono::milliseconds>(command.time, limits.timeout.value_or(max_time));
  try {
    co_return co_await run_recorded(call, std::move(command), permission, limits, time);
  } catch (const ProcessError& error) {
    throw BadRequest(error.what());
  }
}

Task<ToolOutcome> Shell::run_recorded(const ToolCall& call, ShellCommand command, Permission permission,
                                      ShellLimits limits, std::chrono::milliseconds time) {
  AGW_ASSERT(permission.verdict == Permission::Verdict::allowed);
  AGW_ASSERT(time <= max_time);
  if (!recorder_) co_return co_await run_wrapped(call, std::move(command), permission, limits, time);
  const auto& roots = call.run.roots;
  std::vector<fs::path> writable{roots.workspace()};
  if (roots.project) writable.push_back(*roots.project);
  auto before = co_await recorder_->before_command(call.run, std::move(writable));
  ToolOutcome outcome;
  std::exception_ptr failure;
  try {
    outcome = co_await run_wrapped(call, std::move(command), permission, limits, time);
  } catch (...) {
    failure = std::current_exception();
  }
  // A call that does not end soon after it was stopped is cancelled.
  co_await ignore_cancellation();
  co_await recorder_->after_command(call.run, std::move(before));
  if (failure) std::rethrow_exception(failure);
  co_return outcome;
}

Task<ToolOutcome> Shell::run_wrapped(const ToolCall& call, ShellCommand command, Permission permission,
                                     ShellLimits limits, std::chrono::milliseconds time) {
  AGW_ASSERT(!command.secrets || sandbox_.is_enabled());  // without it, the command would see their values
  if (!sandbox_.is_enabled() || !limits.network || !(permission.network || permission.asks_hosts))
    co_return co_await run_connected(call, std::move(command), limits, nullptr, time);
  CommandHosts hosts(loop_, call, command);
  ProxiedNetwork network(
      loop_, blocking_,
      {.judge = [&hosts](HostPort target) { return hosts.judge(std::move(target)); },
       .note = [&hosts](const HostPort& target, const HostVerdict& verdict) { hosts.note(target, verdict); },
       .names_loopback = permission.names_loopback},
      command.secrets);
  ToolOutcome outcome;
  std::exception_ptr failure;
  try {
    outcome = co_await run_connected(call, std::move(command), limits, &network, time);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await ignore_cancellation();
  co_await network.close();
  if (recorder_ && !hosts.contacted().empty()) co_await recorder_->record_hosts(call.run, hosts.contacted());
  if (failure) std::rethrow_exception(failure);
  co_return outcome;
}

Task<ToolOutcome> Shell::run_connected(const ToolCall& call, ShellCommand command, ShellLimits limits,
                                       SandboxNetwork* network, std::chrono::milliseconds time) {
  AGW_ASSERT(!network || sandbox_.is_enabled());
  AGW_ASSERT(!network || limits.network);
  auto prepared = co_await blocking_.run([this, run = call.run, limits, network, command] {
    make_workspace(run.roots);
    const auto spec = sandbox_spec_for(run, limits, network, command.environment);
    return std::pair(sandbox_.wrap({shell_program(), "-c", command.command}, spec), DiskSpaceMonitor(spec.writable));
  });
  auto& [options, disks] = prepared;
  auto kept = options.kept;
  StopSource stop;
  const StopSource::Listener passed_on(call.stop, [&stop] { stop.request(); });
  TaskGroup watching(loop_);
  watching.spawn(disks.watch(blocking_, stop));
  ProcessCountMonitor processes;
  if (sandbox_.is_enabled()) watching.spawn(processes.watch(stop));
  CommandEnd ended;
  std::exception_ptr failure;
  try {
    ended.result =
        co_await run_process(loop_, std::move(options), std::move(command.input),
                             {.time = time, .hurry = &hurry_, .output = max_output, .waits = call.waits}, stop);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await ignore_cancellation();
  stop.request();
  co_await watching.join();
  // A mount point is removed only after the unmount, which must not block the loop.
  co_await blocking_.run([kept = std::move(kept)] {});
  if (failure) std::rethrow_exception(failure);
  ended.filled_disk = disks.is_disk_low();
  ended.filled_host = processes.has_too_many();
  co_return outcome_of(ended, time);
}

}  // namespace agw
