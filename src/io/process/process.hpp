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
  std::vector<std::string> arguments;    ///< the first is the program: a path, or a name to look up in PATH
  std::vector<std::string> environment;  ///< `NAME=value`, the complete environment
  std::filesystem::path directory;       ///< the working directory
  bool separate_stderr = false;          ///< standard error is a separate stream, not mixed into the output
  /// The programs' side of a terminal, in the place of all standard streams: `read` and `write` are not possible then.
  std::shared_ptr<Descriptor> terminal{};
  /// Descriptors to pass to the child under these numbers, from 3 up to 199.
  std::vector<std::pair<std::shared_ptr<Descriptor>, int>> descriptors{};
  std::vector<int> ignored_signals{};  ///< signals that the child ignores; all others have their default action
  bool die_with_parent = true;   ///< killed by the kernel with the gateway; false: the program handles that itself
  std::shared_ptr<void> kept{};  ///< kept alive as long as the process
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
  int exit_code = 0;  ///< 128 + the number of a signal that ended it, as shells say it
  int signal = 0;     ///< 0 for none
};

/// A child process in its own session and process group, which never outlives the gateway: the kernel kills it, and in
/// the sandbox everything that it started. Its pipes are read only on demand: a child that writes too much waits. On
/// the loop; it must be started from the loop's thread, because the kernel kills it when that thread ends. Its end is
/// awaited through a pidfd, so that no other child's status is consumed. The program ignores SIGPIPE.
/// Example: src/io/process/process_test.cpp: ProcessTest.KeepsErrorsApartAndTalksBothWays
class Process {
public:
  /// Starts the process. Throws ProcessError.
  Process(Loop& loop, ProcessOptions options);
  /// Kills the whole group if it has not ended.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const;

  /// The next bytes, 64 KiB at most; empty once the stream has ended.
  Task<std::string> read(ProcessStream stream = ProcessStream::output);
  /// Writes all bytes to the standard input; false if the child no longer reads.
  Task<bool> write(std::string bytes);
  /// Writes all bytes in the background, then closes the input.
  void feed(std::string bytes);
  void close_input();

  /// Sends a signal to the whole group.
  void signal(int number);
  /// Waits for the end of the child itself. Others of its group may still live.
  Task<ProcessExit> wait();
  /// Sends SIGTERM to the group, after `grace` SIGKILL to the rest of it, and waits.
  Task<ProcessExit> end(std::chrono::milliseconds grace);

  /// From now on, the rest of the group is killed when the child has ended, and the output ends soon after.
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
  std::size_t output = 100'000;          ///< the number of characters of output to keep: head and tail
  const WaitClock* waits = nullptr;      ///< the time that it counts meanwhile is not the process's
};

/// The result of a process.
struct ProcessResult {
  std::string
      output;  ///< standard output and error as they came, any bytes; a line in the middle says what was omitted
  ProcessExit end;
  bool timed_out = false;
  bool stopped = false;
};

/// Runs a process until it ends; `stop` or the time limit ends its whole group. Output beyond the limit is read and
/// discarded. Throws ProcessError.
/// Example: src/io/process/process_test.cpp: ProcessTest.SaysWhatCameAndHowItEnded
Task<ProcessResult> run_process(Loop& loop, ProcessOptions options, std::string input, ProcessLimits limits,
                                StopSource& stop);

}  // namespace agw
