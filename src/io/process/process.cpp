// A child process with pipes, and its two main risks.
//
// A signal must never reach an unrelated process. The child's number, which is also its group's, can be reused only
// after wait(2). The State therefore keeps the child as a zombie until both its owner and the wait for its end have
// finished.
//
// Output must not exhaust memory. The pipes are read only on demand (`read`), so a child that prints faster has to
// wait; `run_process` keeps only the start and the end of the output.

#include "io/process/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "io/process/head_tail_buffer.hpp"
#include "io/process/spawn.hpp"

namespace agw {

using namespace std::chrono_literals;
using boost::system::error_code;

namespace {

constexpr std::size_t read_size = std::size_t{64} * 1024;
constexpr auto standard_path = "/usr/local/bin:/usr/bin:/bin";
/// For data that was in the pipe before its writers were killed.
constexpr auto last_output_timeout = 250ms;
constexpr std::chrono::milliseconds max_hurried_grace{150};
/// How often the time is checked while a person is waited for.
constexpr std::chrono::milliseconds wait_clock_poll_interval{100};
// Otherwise `drain_in_time` would not wait.
static_assert(wait_clock_poll_interval > 0ms);

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::string path_of(const std::vector<std::string>& environment) {
  for (const auto& variable : environment) {
    if (variable.starts_with("PATH=")) return variable.substr(5);
  }
  return standard_path;
}

/// Rejects a NUL, where the system would truncate the text.
void refuse_nul(const std::vector<std::string>& texts, const char* why) {
  for (const auto& text : texts) {
    if (text.find('\0') != text.npos) throw ProcessError(why);
  }
}

SpawnOptions plan_of(ProcessOptions& options) {
  refuse_nul(options.arguments, "command: not a possible command, because it holds a NUL character");
  refuse_nul(options.environment, "environment: not a possible environment, because it holds a NUL character");
  SpawnOptions plan;
  plan.program = find_program(options.arguments.at(0), path_of(options.environment));
  plan.arguments = std::move(options.arguments);
  plan.environment = std::move(options.environment);
  plan.directory = options.directory.empty() ? "/" : options.directory.string();
  plan.ignored_signals = std::move(options.ignored_signals);
  plan.die_with_parent = options.die_with_parent;
  for (const auto& [descriptor, number] : options.descriptors) {
    AGW_ASSERT(descriptor);
    AGW_ASSERT(*descriptor);
    AGW_ASSERT(number > STDERR_FILENO);
    AGW_ASSERT(number < first_spare_descriptor);
    plan.descriptors.emplace_back(descriptor->get(), number);
  }
  return plan;
}

SpawnedProcess spawn_or_throw(const SpawnOptions& plan) {
  try {
    return spawn(plan);
  } catch (const std::system_error& error) {
    throw ProcessError(error.what());
  }
}

}  // namespace

/// Lives until both its owner and the wait for the child's end have released it. Until then the child stays a zombie,
/// so that its number, which is also its group's, is not reused.
class Process::State : public std::enable_shared_from_this<State> {
public:
  State(Loop& loop, ProcessOptions options)
      : input_(loop), output_(loop), error_(loop), child_(loop), ended_(loop), last_output_(loop) {
    auto plan = plan_of(options);
    if (options.terminal) {
      AGW_ASSERT(*options.terminal);
      AGW_ASSERT(!options.separate_stderr);
      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        plan.descriptors.emplace_back(options.terminal->get(), stream);
      start(plan, options);
    } else {
      start_with_pipes(plan, options);
    }
  }

  ~State() {
    signal(SIGKILL);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void watch() {
    AGW_ASSERT(id_ > 1);
    AGW_ASSERT(!end_);
    AGW_ASSERT(child_.is_open());
    child_.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](error_code error) {
      if (!error && !self->note_end()) self->watch();
    });
  }

  pid_t id() const { return id_; }
  void signal(int number) const {
    // kill(2) with -1 would reach every process of this user.
    AGW_ASSERT(id_ > 1);
    AGW_ASSERT(number > 0);
    ::kill(-id_, number);
  }
  bool has_ended() const { return end_.has_value(); }

  void kill_group_on_exit() {
    ends_group_ = true;
    if (end_) end_group();
  }

  Task<ProcessExit> wait() {
    co_await ended_.wait();
    AGW_ASSERT(end_);
    co_return *end_;
  }

  Task<std::string> read(ProcessStream stream) {
    auto& from = stream == ProcessStream::output ? output_ : error_;
    if (!from.is_open()) co_return std::string();
    std::string bytes(read_size, '\0');
    error_code error;
    const auto size =
        co_await from.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted && from.is_open()) throw boost::system::system_error(error);
    bytes.resize(error ? 0 : size);
    AGW_ASSERT(bytes.size() <= read_size);
    co_return bytes;
  }

  Task<bool> write(std::string bytes) {
    if (!input_.is_open()) co_return false;
    error_code error;
    co_await asio::async_write(input_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted && input_.is_open()) throw boost::system::system_error(error);
    co_return !error;
  }

  /// Writes in the background, then closes the input.
  void feed(std::string bytes) {
    auto lent = std::make_shared<std::string>(std::move(bytes));
    asio::async_write(input_, asio::buffer(*lent),
                      [self = shared_from_this(), lent](error_code, std::size_t) { self->close_input(); });
  }

  void close_input() {
    error_code ignored;
    input_.close(ignored);
  }

private:
  void start(const SpawnOptions& plan, ProcessOptions& options) {
    AGW_ASSERT(id_ == 0);
    AGW_ASSERT(!end_);
    auto spawned = spawn_or_throw(plan);
    id_ = spawned.id;
    AGW_ASSERT(id_ > 1);
    AGW_ASSERT(spawned.descriptor);
    kept_ = std::move(options.kept);
    child_.assign(spawned.descriptor.release());
  }

  void start_with_pipes(SpawnOptions& plan, ProcessOptions& options) {
    auto input = make_pipe();
    auto output = make_pipe();
    auto error = options.separate_stderr ? make_pipe() : Pipe{};
    plan.descriptors.emplace_back(input.reading.get(), STDIN_FILENO);
    plan.descriptors.emplace_back(output.writing.get(), STDOUT_FILENO);
    plan.descriptors.emplace_back((options.separate_stderr ? error : output).writing.get(), STDERR_FILENO);
    start(plan, options);
    input_.assign(input.writing.release());
    output_.assign(output.reading.release());
    if (options.separate_stderr) error_.assign(error.reading.release());
    AGW_ASSERT(input_.is_open());
    AGW_ASSERT(output_.is_open());
    AGW_ASSERT(error_.is_open() == options.separate_stderr);
  }

  /// Returns false if the child is still alive: Asio can wake a descriptor for an event of another one that was closed
  /// just before.
  bool note_end() {
    AGW_ASSERT(!end_);
    siginfo_t info{};
    const bool asked = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT | WNOHANG) == 0;
    if (asked && info.si_pid == 0) return false;
    AGW_ASSERT(!asked || info.si_pid == id_);
    const bool by_signal = info.si_code != CLD_EXITED;
    end_ = ProcessExit{.exit_code = by_signal ? 128 + info.si_status : info.si_status,
                       .signal = by_signal ? info.si_status : 0};
    close_input();
    kept_.reset();
    ended_.notify();
    if (ends_group_) end_group();
    return true;
  }

  /// Kills the rest of the group. Processes that have left it can still hold the pipes open.
  void end_group() {
    AGW_ASSERT(end_);
    AGW_ASSERT(ends_group_);
    signal(SIGKILL);
    last_output_.expires_after(last_output_timeout);
    last_output_.async_wait([weak = weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (error || !self) return;
      error_code ignored;
      self->output_.close(ignored);
      self->error_.close(ignored);
    });
  }

  asio::posix::stream_descriptor input_;
  asio::posix::stream_descriptor output_;
  asio::posix::stream_descriptor error_;
  asio::posix::stream_descriptor child_;
  AsyncEvent ended_;
  asio::steady_timer last_output_;
  std::shared_ptr<void> kept_;
  pid_t id_ = 0;
  std::optional<ProcessExit> end_;
  bool ends_group_ = false;
};

Process::Process(Loop& loop, ProcessOptions options) {
  const auto started = std::move(options.started);
  state_ = std::make_shared<State>(loop, std::move(options));
  state_->watch();
  if (started) started(state_->id());
}

Process::~Process() { state_->signal(SIGKILL); }

pid_t Process::id() const { return state_->id(); }
Task<std::string> Process::read(ProcessStream stream) { co_return co_await state_->read(stream); }
Task<bool> Process::write(std::string bytes) { co_return co_await state_->write(std::move(bytes)); }
void Process::feed(std::string bytes) { state_->feed(std::move(bytes)); }
void Process::close_input() { state_->close_input(); }
void Process::signal(int number) { state_->signal(number); }
Task<ProcessExit> Process::wait() { co_return co_await state_->wait(); }
void Process::kill_group_on_exit() { state_->kill_group_on_exit(); }

Task<ProcessExit> Process::end(std::chrono::milliseconds grace) {
  const auto waited = [](State& state) -> Task<> { co_await state.wait(); };
  signal(SIGTERM);
  StopSource never;
  co_await with_timeout(never, grace, waited(*state_));
  signal(SIGKILL);
  const auto end = co_await wait();
  AGW_ASSERT(state_->has_ended());
  co_return end;
}

namespace {

Task<> drain(Process& process, HeadTailBuffer& kept) {
  for (;;) {
    const auto bytes = co_await process.read();
    if (bytes.empty()) break;
    kept.add(bytes);
  }
  co_await process.wait();
}

/// Reads output until the process ends, `stop` is requested or the time limit is used up. Time spent waiting for people
/// does not count.
Task<WaitResult> drain_in_time(Process& process, HeadTailBuffer& kept, ProcessLimits limits, StopSource& stop) {
  using std::chrono::steady_clock;
  const WaitClock none;
  const auto& waits = limits.waits ? *limits.waits : none;
  const auto began = steady_clock::now();
  const auto waited_before = waits.waited();
  for (auto left = limits.time;;) {
    const auto end = co_await with_timeout(stop, left, drain(process, kept));
    const auto waited = waits.waited() - waited_before;
    AGW_ASSERT(waited >= waited.zero());
    const auto used = std::chrono::floor<std::chrono::milliseconds>(steady_clock::now() - began - waited);
    if (end != WaitResult::timed_out || (used >= limits.time && !waits.is_waiting())) co_return end;
    left = std::max(limits.time - used, wait_clock_poll_interval);
    AGW_DEBUG_ASSERT(left <= std::max(limits.time, wait_clock_poll_interval));
  }
}

/// Sends SIGTERM, then SIGKILL for processes that ignore it.
Task<> end_draining(Process& process, HeadTailBuffer& kept, ProcessLimits limits) {
  StopSource never;
  process.signal(SIGTERM);
  const auto end = co_await with_timeout(limits.hurry ? *limits.hurry : never, limits.grace, drain(process, kept));
  if (end == WaitResult::stopped)
    co_await with_timeout(never, std::min(limits.grace, max_hurried_grace), drain(process, kept));
  process.signal(SIGKILL);
  co_await drain(process, kept);
}

}  // namespace

Task<ProcessResult> run_process(Loop& loop, ProcessOptions options, std::string input, ProcessLimits limits,
                                StopSource& stop) {
  Process process(loop, std::move(options));
  process.kill_group_on_exit();
  process.feed(std::move(input));
  HeadTailBuffer kept(limits.output);
  const auto end = co_await drain_in_time(process, kept, limits, stop);
  if (end != WaitResult::done) co_await end_draining(process, kept, limits);
  ProcessResult result{.end = co_await process.wait()};
  result.output = kept.text();
  result.timed_out = end == WaitResult::timed_out;
  result.stopped = end == WaitResult::stopped;
  co_return result;
}

}  // namespace agw
