#include "features/apps/dev_server.hpp"

#include <csignal>

#include <fmt/format.h>

#include "base/log.hpp"
#include "features/apps/health.hpp"
#include "io/proxy/proxied_network.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto time_for_last_lines = 300ms;
constexpr auto pause_between_looks = 100ms;
/// Longer than a sandbox takes to start on a busy machine.
constexpr auto time_to_begin = 1s;
// Bytes read per span, so that a server that floods its log has to wait.
constexpr std::size_t max_at_once = 128 * 1024;
constexpr auto span_of_reading = 100ms;

std::string port_in_use(int port) { return fmt::format("port {} is in use by another program", port); }

AppStream stream_of(ProcessStream stream) { return stream == ProcessStream::output ? AppStream::out : AppStream::err; }

std::string text_of(const ProcessExit& end) {
  return end.signal ? fmt::format("ended by signal {}", end.signal) : fmt::format("exited with {}", end.exit_code);
}

}  // namespace

DevServer::DevServer(Loop& loop, const Clock& clock, DevServerLimits limits, Callbacks callbacks)
    : loop_(loop),
      clock_(clock),
      limits_(limits),
      callbacks_(std::move(callbacks)),
      grace_(limits.to_end),
      life_(loop) {}

Task<> DevServer::start(DevServerStart wanted) {
  wanted_ = std::move(wanted);
  restarts_ = 0;
  port_ = wanted_.port ? *wanted_.port : free_port();
  grace_ = limits_.to_end;
  stopping_ = std::make_unique<StopSource>();
  hurry_ = std::make_unique<StopSource>();
  auto process = co_await launch();
  life_.spawn(supervise(std::move(process)));
}

Task<std::unique_ptr<Process>> DevServer::launch() {
  if (!wanted_.port && !is_free_port(port_)) port_ = free_port();
  auto wanted = co_await wanted_.process(port_, [this](std::string line) { note(std::move(line)); });
  auto forwarded = wanted.network ? reserve_port(wanted.network) : nullptr;
  auto process = std::make_unique<Process>(loop_, std::move(wanted.options));
  network_ = std::move(wanted.network);
  forwarded_ = std::move(forwarded);
  pid_ = process->id();
  started_at_ = clock_.now();
  alive_ = true;
  become(AppStatus::starting);
  co_return process;
}

/// So that no other program takes it while the server starts.
std::unique_ptr<ForwardedPort> DevServer::reserve_port(const std::shared_ptr<ProxiedNetwork>& network) const {
  const AppEndpoint inside{.port = port_, .network = network};
  try {
    return std::make_unique<ForwardedPort>(loop_, static_cast<std::uint16_t>(port_),
                                           [inside] { return connect_to(inside); });
  } catch (const boost::system::system_error&) {
    throw ProcessError(port_in_use(port_));
  }
}

/// Lets connections in, now that the server takes them. False if another program listens there.
bool DevServer::open_port() {
  try {
    if (forwarded_) forwarded_->open();
    return true;
  } catch (const boost::system::system_error&) {
    note(port_in_use(port_));
  }
  return false;
}

Task<> DevServer::close_network() {
  if (forwarded_) co_await forwarded_->close();
  forwarded_.reset();
  if (network_) co_await network_->close();
  network_.reset();
}

void DevServer::request_stop(std::chrono::milliseconds grace) {
  if (stopping_ && stopping_->requested() && grace < grace_) hurry_->request();
  grace_ = grace;
  if (stopping_) stopping_->request();
}

Task<> DevServer::stop() {
  request_stop(std::min(grace_, limits_.to_end));
  co_await life_.join();
}

Task<> DevServer::supervise(std::unique_ptr<Process> process) {
  auto outcome = Outcome::crashed;
  while (process) {
    const auto began = std::chrono::steady_clock::now();
    outcome = co_await live(*process);
    process.reset();
    if (outcome != Outcome::crashed) break;
    if (std::chrono::steady_clock::now() - began > limits_.steady) restarts_ = 0;
    process = co_await launch_again();
  }
  alive_ = false;
  const bool wanted = outcome == Outcome::stopped || stopping_->requested();
  become(wanted ? AppStatus::stopped : AppStatus::failed);
}

/// The next process after a crash; null if there should be none.
Task<std::unique_ptr<Process>> DevServer::launch_again() {
  if (restarts_ == limits_.restarts) {
    note(fmt::format("crashed {} times: not started again", restarts_ + 1));
    co_return nullptr;
  }
  const auto backoff = limits_.first_backoff * (1 << restarts_);
  note(fmt::format("starting again in {} ms", backoff.count()));
  become(AppStatus::starting);
  if (co_await pause(*stopping_, backoff) == WaitResult::stopped) co_return nullptr;
  ++restarts_;
  try {
    co_return co_await launch();
  } catch (const std::exception& error) {  // For example, a secret was removed.
    note(fmt::format("cannot be started: {}", error.what()));
  }
  co_return nullptr;
}

/// Follows a process from its start until it and all its children have ended.
Task<DevServer::Outcome> DevServer::live(Process& process) {
  const auto id = process.id();
  const auto began = std::chrono::steady_clock::now();
  co_await callbacks_.started(id);
  TaskGroup readers(loop_);
  readers.spawn(read_lines(process, ProcessStream::output));
  readers.spawn(read_lines(process, ProcessStream::error));
  StopSource ending;
  const StopSource::Listener asked(*stopping_, [&] { ending.request(); });
  StopSource mute;
  const StopSource::Listener gave_up(mute, [&] { ending.request(); });
  TaskGroup watchers(loop_);
  watchers.spawn(watch(mute));
  ProcessExit end;
  const auto ended = co_await with_timeout(ending, no_limit, wait_for_end(process, end));
  watchers.cancel();
  co_await watchers.join();
  if (ended == WaitResult::done) note(text_of(end));
  if (ended != WaitResult::done) co_await with_timeout(*hurry_, grace_, ask_to_end(process, end, began));
  // Even if it ended by itself: its children may still run.
  co_await process.end(0ms);
  StopSource never;
  co_await with_timeout(never, time_for_last_lines, readers.join());
  readers.cancel();
  co_await readers.join();
  co_await close_network();
  pid_.reset();
  started_at_.reset();
  co_await callbacks_.ended(id);
  if (stopping_->requested()) co_return Outcome::stopped;
  co_return mute.requested() ? Outcome::mute : Outcome::crashed;
}

Task<> DevServer::wait_for_end(Process& process, ProcessExit& end) { end = co_await process.wait(); }

/// Repeats the signal at first: a sandbox ignores it while it starts.
Task<> DevServer::ask_to_end(Process& process, ProcessExit& end, std::chrono::steady_clock::time_point began) {
  StopSource never;
  process.signal(SIGTERM);
  while (std::chrono::steady_clock::now() < began + time_to_begin) {
    if (co_await with_timeout(never, pause_between_looks, wait_for_end(process, end)) == WaitResult::done) co_return;
    process.signal(SIGTERM);
  }
  co_await wait_for_end(process, end);
}

Task<> DevServer::read_lines(Process& process, ProcessStream stream) {
  std::size_t taken = 0;
  auto began = std::chrono::steady_clock::now();
  for (;;) {
    const auto bytes = co_await process.read(stream);
    if (bytes.empty()) break;
    log_.add(stream_of(stream), bytes, clock_.now());
    taken += bytes.size();
    if (taken < max_at_once) continue;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    StopSource never;
    if (passed < span_of_reading) co_await pause(never, span_of_reading - passed);
    taken = 0;
    began = std::chrono::steady_clock::now();
  }
  log_.finish(stream_of(stream), clock_.now());
}

/// Waits until the server takes connections, and then until it is healthy; requests `mute` if it is not in time.
Task<> DevServer::watch(StopSource& mute) {
  const auto deadline = std::chrono::steady_clock::now() + limits_.to_answer;
  const bool is_up = co_await is_healthy_before(deadline, "") && open_port() &&
                     (wanted_.health_path.empty() || co_await is_healthy_before(deadline, wanted_.health_path));
  if (is_up)
    become(AppStatus::running);
  else
    mute.request();
}

Task<bool> DevServer::is_healthy_before(std::chrono::steady_clock::time_point deadline, std::string path) {
  StopSource never;
  while (!co_await is_healthy(endpoint(), path)) {
    if (std::chrono::steady_clock::now() > deadline) {
      note(fmt::format("did not answer at port {} within {} s: ended", port_, limits_.to_answer.count() / 1000));
      co_return false;
    }
    co_await pause(never, pause_between_looks);
  }
  co_return true;
}

void DevServer::become(AppStatus status) {
  status_ = status;
  callbacks_.changed();
}

void DevServer::note(std::string line) { log_.note(std::move(line), clock_.now()); }

}  // namespace agw
