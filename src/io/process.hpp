#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cut.hpp"
#include "base/task.hpp"
#include "io/descriptor.hpp"

namespace agw {

/// What is started. Nothing of the gateway's environment and none of its descriptors comes along.
struct ProcessOptions {
  std::vector<std::string> arguments;    ///< the first is the program: a path, or a name that is looked up in PATH
  std::vector<std::string> environment;  ///< `NAME=value`: the whole of it
  std::filesystem::path directory;       ///< the working directory
  bool errors_apart = false;             ///< standard error is a stream of its own, not mixed into the output
  /// Descriptors that the child has under these numbers, from 3 up to 199.
  std::vector<std::pair<std::shared_ptr<Descriptor>, int>> descriptors{};
  std::vector<int> ignored_signals{};  ///< which the child ignores from the start; all others do what is their default
  bool dies_with_gateway = true;       ///< by the kernel; false: the program sees to that itself
  std::shared_ptr<void> kept{};        ///< lives as long as the process
};

/// Why a process could not be started, for people.
class ProcessError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Which of its two outputs.
enum class ProcessStream { output, error };

/// How a process ended.
struct ProcessEnd {
  int exit_code = 0;  ///< 128 + the number of a signal that ended it, as shells say it
  int signal = 0;     ///< 0 for none
};

/// A child process in a session and a process group of its own, which ends with the gateway whatever happens to that:
/// it itself by the kernel, and in the sandbox all that it started. Its pipes are read only as fast as somebody asks: a
/// child that floods them waits. On the loop, started from its thread only (the kernel ends it with that); it is waited
/// for by a descriptor, so that no other child's end is taken away. The program ignores SIGPIPE.
class Process {
public:
  /// Starts it. Throws ProcessError.
  Process(Loop& loop, ProcessOptions options);
  /// Kills the whole group where it has not ended.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const;

  /// The next bytes, 64 KiB at most; empty once the stream has ended.
  Task<std::string> read(ProcessStream stream = ProcessStream::output);
  /// Writes all of it to the standard input; false where the child does not read any more.
  Task<bool> write(std::string bytes);
  /// Writes all of it while the caller does something else, then closes the input.
  void feed(std::string bytes);
  void close_input();

  /// Sends a signal to the whole group.
  void signal(int number);
  /// Once the child itself has ended. Others of its group may still live.
  Task<ProcessEnd> wait();
  /// SIGTERM to the group, SIGKILL after `grace` for what is left of it, and waits.
  Task<ProcessEnd> end(std::chrono::milliseconds grace);

  /// What a process leaves behind in its group is killed once it has ended, and its output ends soon after.
  void end_group_with_it();

private:
  class State;
  std::shared_ptr<State> state_;
};

/// The limits of `run_process`.
struct ProcessLimits {
  std::chrono::milliseconds time{120'000};
  std::chrono::milliseconds grace{500};  ///< between SIGTERM and SIGKILL
  Stop* hurry = nullptr;                 ///< shortens the grace to 150 ms from when it is requested
  std::size_t output = 100'000;          ///< characters of the output that are kept: its beginning and its end
};

/// What came of a process that was run to its end.
struct ProcessResult {
  std::string output;  ///< standard output and error as they came, any bytes; a line in the middle says what was cut
  ProcessEnd end;
  bool timed_out = false;
  bool stopped = false;
};

/// Runs a process to its end, or until `stop` or its time ends its whole group. Output beyond the limit is read and
/// thrown away. Throws ProcessError.
Task<ProcessResult> run_process(Loop& loop, ProcessOptions options, std::string input, ProcessLimits limits,
                                Stop& stop);

}  // namespace agw
