#include "io/process.hpp"

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

#include "io/excerpt.hpp"
#include "io/spawn.hpp"

namespace agw {

using namespace std::chrono_literals;
using boost::system::error_code;

namespace {

constexpr std::size_t read_size = std::size_t{64} * 1024;
constexpr auto standard_path = "/usr/local/bin:/usr/bin:/bin";
/// For what came to the pipe before its writers were killed.
constexpr auto time_for_last_output = 250ms;
constexpr std::chrono::milliseconds grace_in_a_hurry{150};

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

/// The system would end a text there, and the child would get less than was asked for.
void refuse_nul(const std::vector<std::string>& texts, const char* why) {
  for (const auto& text : texts) {
    if (text.find('\0') != text.npos) throw ProcessError(why);
  }
}

SpawnPlan plan_of(ProcessOptions& options) {
  refuse_nul(options.arguments, "command: not a possible command, because it holds a NUL character");
  refuse_nul(options.environment, "environment: not a possible environment, because it holds a NUL character");
  SpawnPlan plan;
  plan.program = find_program(options.arguments.at(0), path_of(options.environment));
  plan.arguments = std::move(options.arguments);
  plan.environment = std::move(options.environment);
  plan.directory = options.directory.empty() ? "/" : options.directory.string();
  plan.ignored_signals = std::move(options.ignored_signals);
  plan.dies_with_parent = options.dies_with_gateway;
  for (const auto& [descriptor, number] : options.descriptors) plan.descriptors.emplace_back(descriptor->get(), number);
  return plan;
}

Spawned spawn_or_say_why(const SpawnPlan& plan) {
  try {
    return spawn(plan);
  } catch (const std::system_error& error) {
    throw ProcessError(error.what());
  }
}

}  // namespace

/// Lives until both its owner and the wait for the child's end have let go of it. Until then the child stays a zombie,
/// so that its number, which is also its group's, belongs to nobody else.
class Process::State : public std::enable_shared_from_this<State> {
public:
  State(Loop& loop, ProcessOptions options)
      : input_(loop), output_(loop), error_(loop), child_(loop), ended_(loop), last_output_(loop) {
    ended_.expires_at(asio::steady_timer::time_point::max());
    auto plan = plan_of(options);
    auto input = make_pipe();
    auto output = make_pipe();
    auto error = options.errors_apart ? make_pipe() : Pipe{};
    plan.descriptors.emplace_back(input.reading.get(), STDIN_FILENO);
    plan.descriptors.emplace_back(output.writing.get(), STDOUT_FILENO);
    plan.descriptors.emplace_back((options.errors_apart ? error : output).writing.get(), STDERR_FILENO);
    auto spawned = spawn_or_say_why(plan);
    id_ = spawned.id;
    kept_ = std::move(options.kept);
    child_.assign(spawned.descriptor.release());
    input_.assign(input.writing.release());
    output_.assign(output.reading.release());
    if (options.errors_apart) error_.assign(error.reading.release());
  }

  ~State() {
    signal(SIGKILL);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void watch() {
    child_.async_wait(asio::posix::stream_descriptor::wait_read, [self = shared_from_this()](error_code error) {
      if (!error && !self->note_end()) self->watch();
    });
  }

  pid_t id() const { return id_; }
  void signal(int number) const { ::kill(-id_, number); }
  bool has_ended() const { return end_.has_value(); }

  void end_group_with_it() {
    ends_group_ = true;
    if (end_) end_group();
  }

  Task<ProcessEnd> wait() {
    if (!end_) {
      error_code cancelled;
      co_await ended_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
    // Woken by nobody but the child's end; else it is the caller who is cancelled.
    if (!end_) throw boost::system::system_error(asio::error::operation_aborted);
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
    co_return bytes;
  }

  Task<bool> write(std::string bytes) {
    if (!input_.is_open()) co_return false;
    error_code error;
    co_await asio::async_write(input_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted && input_.is_open()) throw boost::system::system_error(error);
    co_return !error;
  }

  /// Writes and closes, while the caller does something else.
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
  /// False where it still lives: Asio can wake a descriptor for what it had heard of one that was closed just before.
  bool note_end() {
    siginfo_t info{};
    const bool asked = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOWAIT | WNOHANG) == 0;
    if (asked && info.si_pid == 0) return false;
    const bool by_signal = info.si_code != CLD_EXITED;
    end_ = ProcessEnd{.exit_code = by_signal ? 128 + info.si_status : info.si_status,
                      .signal = by_signal ? info.si_status : 0};
    close_input();
    kept_.reset();
    ended_.cancel();
    if (ends_group_) end_group();
    return true;
  }

  /// What has left the group can still hold the pipes open.
  void end_group() {
    signal(SIGKILL);
    last_output_.expires_after(time_for_last_output);
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
  asio::steady_timer ended_;
  asio::steady_timer last_output_;
  std::shared_ptr<void> kept_;
  pid_t id_ = 0;
  std::optional<ProcessEnd> end_;
  bool ends_group_ = false;
};

Process::Process(Loop& loop, ProcessOptions options) : state_(std::make_shared<State>(loop, std::move(options))) {
  state_->watch();
}

Process::~Process() { state_->signal(SIGKILL); }

pid_t Process::id() const { return state_->id(); }
Task<std::string> Process::read(ProcessStream stream) { co_return co_await state_->read(stream); }
Task<bool> Process::write(std::string bytes) { co_return co_await state_->write(std::move(bytes)); }
void Process::feed(std::string bytes) { state_->feed(std::move(bytes)); }
void Process::close_input() { state_->close_input(); }
void Process::signal(int number) { state_->signal(number); }
Task<ProcessEnd> Process::wait() { co_return co_await state_->wait(); }
void Process::end_group_with_it() { state_->end_group_with_it(); }

Task<ProcessEnd> Process::end(std::chrono::milliseconds grace) {
  const auto waited = [](State& state) -> Task<> { co_await state.wait(); };
  signal(SIGTERM);
  Stop never;
  co_await cut(never, grace, waited(*state_));
  signal(SIGKILL);
  co_return co_await wait();
}

namespace {

Task<> drain(Process& process, Excerpt& kept) {
  for (;;) {
    const auto bytes = co_await process.read();
    if (bytes.empty()) break;
    kept.add(bytes);
  }
  co_await process.wait();
}

/// SIGTERM, and SIGKILL for what is deaf to it.
Task<> end_draining(Process& process, Excerpt& kept, ProcessLimits limits) {
  Stop never;
  process.signal(SIGTERM);
  const auto end = co_await cut(limits.hurry ? *limits.hurry : never, limits.grace, drain(process, kept));
  if (end == End::stopped) co_await cut(never, std::min(limits.grace, grace_in_a_hurry), drain(process, kept));
  process.signal(SIGKILL);
  co_await drain(process, kept);
}

}  // namespace

Task<ProcessResult> run_process(Loop& loop, ProcessOptions options, std::string input, ProcessLimits limits,
                                Stop& stop) {
  Process process(loop, std::move(options));
  process.end_group_with_it();
  process.feed(std::move(input));
  Excerpt kept(limits.output);
  const auto end = co_await cut(stop, limits.time, drain(process, kept));
  if (end != End::done) co_await end_draining(process, kept, limits);
  ProcessResult result{.end = co_await process.wait()};
  result.output = kept.text();
  result.timed_out = end == End::timed_out;
  result.stopped = end == End::stopped;
  co_return result;
}

}  // namespace agw
