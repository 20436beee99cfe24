#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/async/wait_clock.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

/// A process to start. It inherits neither the gateway's environment nor its descriptors.
struct ProcessOptions {
  std::vector<std::string> arguments;    ///< the first is the program: a path, or a name to be found in PATH
  std::vector<std::string> environment;  ///< `NAME=value`, the complete environment
  std::filesystem::path directory;       ///< the working directory
  bool separate_stderr = false;          ///< separate standard error from the output
  /// The inner side of a terminal that replaces all standard streams; `read` and `write` are not possible then.
  std::shared_ptr<Descriptor> terminal{};
  /// Descriptors to pass to the child, with their numbers there, from 3 to 199.
  std::vector<std::pair<std::shared_ptr<Descriptor>, int>> descriptors{};
  std::vector<int> ignored_signals{};  ///< signals that the child ignores; others have their default action
  bool die_with_parent = true;         ///< the kernel kills it with the gateway; false: the program ensures that itself
  std::shared_ptr<void> kept{};        ///< kept alive as long as the process
  std::function<void(pid_t id)> started{};  ///< called on the loop once it runs
};

/// Why a process could not be started, for people.
class ProcessError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// One of the two output streams.
enum class ProcessStream { output, error };

/// How a process ended.
struct ProcessExit {
  int exit_code = 0;  ///< 128 + the number of the signal that ended it, as in shells
  int signal = 0;     ///< 0 for none
};

/// A child process in its own session and process group that never outlives the gateway: the kernel kills it, and in
/// the sandbox all its descendants. Its pipes are read only on demand, so a child that writes faster has to wait. Use
/// it on the loop only. It must be started on the loop's thread, because the kernel kills it when that thread ends. Its
/// end is awaited through a pidfd, which does not consume the status of other children. The program ignores SIGPIPE.
/// Example: src/io/process/process_test.cpp: ProcessTest.SeparatesErrorsAndCommunicatesBothWays
class Process {
public:
  /// Starts the process. Throws ProcessError.
  Process(Loop& loop, ProcessOptions options);
  /// Kills the whole group if it has not ended.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const;

  /// Reads the next bytes, at most 64 KiB; empty once the stream has ended.
  Task<std::string> read(ProcessStream stream = ProcessStream::output);
  /// Writes all bytes to the standard input; returns false if the child no longer reads.
  Task<bool> write(std::string bytes);
  /// Writes all bytes in the background, then closes the standard input.
  void feed(std::string bytes);
  void close_input();

  /// Sends a signal to the whole group.
  void signal(int number);
  /// Waits for the end of the child itself. Other processes of its group may still run.
  Task<ProcessExit> wait();
  /// Sends SIGTERM to the group, after `grace` SIGKILL to the remaining processes, and waits for the child.
  Task<ProcessExit> end(std::chrono::milliseconds grace);

  /// Makes the end of the child kill the rest of the group and end the output shortly afterwards.
  void kill_group_on_exit();

private:
  class State;
  std::shared_ptr<State> state_;
};

/// The limits of `run_process`.
struct ProcessLimits {
  std::chrono::milliseconds time{120'000};
  std::chrono::milliseconds grace{500};  ///< between SIGTERM and SIGKILL
  StopSource* hurry = nullptr;           ///< when requested, shortens the grace period to 150 ms
  std::size_t output = 100'000;          ///< the number of characters of output to keep: start and end
  const WaitClock* waits = nullptr;      ///< time counted by it during the run is not charged to the process
};

/// The result of a process.
struct ProcessResult {
  std::string output;  ///< standard output and error in order of arrival, any bytes; a line marks omitted output
  ProcessExit end;
  bool timed_out = false;
  bool stopped = false;
};

/// Runs a process until it ends; `stop` or the time limit ends its whole group. Output beyond the limit is read and
/// discarded. Throws ProcessError.
/// Example: src/io/process/process_test.cpp: ProcessTest.ReportsOutputAndExitStatus
Task<ProcessResult> run_process(Loop& loop, ProcessOptions options, std::string input, ProcessLimits limits,
                                StopSource& stop);

}  // namespace agw
