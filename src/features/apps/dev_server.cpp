#include "features/apps/dev_server.hpp"

#include <csignal>
#include <limits>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "features/apps/health.hpp"
#include "io/proxy/proxied_network.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto output_grace = 300ms;
constexpr auto poll_interval = 100ms;
/// Longer than a sandbox takes to start on a busy machine.
constexpr auto sandbox_start_time = 1s;
/// Limits the bytes read per `read_span`, so that a server that floods its log has to wait.
constexpr std::size_t max_bytes_per_span = 128 * 1024;
constexpr auto read_span = 100ms;

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
      grace_(limits.stop_grace),
      life_(loop) {
  AGW_ASSERT(limits_.max_restarts >= 0);
  // `relaunch` shifts by it.
  AGW_ASSERT(limits_.max_restarts < std::numeric_limits<int>::digits);
  AGW_ASSERT(callbacks_.changed);
  AGW_ASSERT(callbacks_.started);
  AGW_ASSERT(callbacks_.ended);
}

void DevServer::assert_invariants() const {
  AGW_ASSERT(pid_.has_value() == started_at_.has_value());
  AGW_ASSERT(!pid_ || *pid_ > 1);
  AGW_ASSERT(!forwarded_ || network_);
  AGW_ASSERT(!alive_ || stopping_);
  AGW_ASSERT(!stopping_ == !kill_now_);
  AGW_ASSERT(restarts_ >= 0);
  AGW_ASSERT(restarts_ <= limits_.max_restarts);
  AGW_DEBUG_ASSERT(!pid_ || alive_);
}

Task<> DevServer::start(DevServerStart spec) {
  AGW_CHECK(!alive_, "a server was started that runs");
  assert_invariants();
  AGW_ASSERT(spec.process);
  start_ = std::move(spec);
  restarts_ = 0;
  port_ = start_.port ? *start_.port : free_port();
  grace_ = limits_.stop_grace;
  stopping_ = std::make_unique<StopSource>();
  kill_now_ = std::make_unique<StopSource>();
  auto process = co_await launch();
  life_.spawn(supervise(std::move(process)));
}

Task<std::unique_ptr<Process>> DevServer::launch() {
  AGW_ASSERT(port_ > 0);
  AGW_DEBUG_ASSERT(!pid_);
  if (!start_.port && !is_free_port(port_)) port_ = free_port();
  auto spec = co_await start_.process(port_, [this](std::string line) { note(std::move(line)); });
  auto forwarded = spec.network ? reserve_port(spec.network) : nullptr;
  auto process = std::make_unique<Process>(loop_, std::move(spec.options));
  network_ = std::move(spec.network);
  forwarded_ = std::move(forwarded);
  pid_ = process->id();
  started_at_ = clock_.now();
  alive_ = true;
  assert_invariants();
  set_status(AppStatus::starting);
  co_return process;
}

/// Reserves the port, so that no other program can take it while the server starts.
std::unique_ptr<ForwardedPort> DevServer::reserve_port(const std::shared_ptr<ProxiedNetwork>& network) const {
  const AppEndpoint inside{.port = port_, .network = network};
  try {
    return std::make_unique<ForwardedPort>(loop_, static_cast<std::uint16_t>(port_),
                                           [inside] { return connect_to(inside); });
  } catch (const boost::system::system_error&) {
    throw ProcessError(port_in_use(port_));
  }
}

/// Starts to accept connections, once the server does. Returns false if another program listens on the port.
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
  assert_invariants();
}

void DevServer::request_stop(std::chrono::milliseconds grace) {
  assert_invariants();
  if (stopping_ && stopping_->requested() && grace < grace_) kill_now_->request();
  grace_ = grace;
  if (stopping_) stopping_->request();
}

Task<> DevServer::stop() {
  request_stop(std::min(grace_, limits_.stop_grace));
  co_await life_.join();
}

Task<> DevServer::supervise(std::unique_ptr<Process> process) {
  AGW_ASSERT(process);
  auto outcome = Outcome::crashed;
  while (process) {
    const auto began = std::chrono::steady_clock::now();
    outcome = co_await follow(*process);
    process.reset();
    if (outcome != Outcome::crashed) break;
    if (std::chrono::steady_clock::now() - began > limits_.stable_after) restarts_ = 0;
    process = co_await relaunch();
  }
  AGW_DEBUG_ASSERT(!pid_);
  alive_ = false;
  assert_invariants();
  const bool is_intended = outcome == Outcome::stopped || stopping_->requested();
  set_status(is_intended ? AppStatus::stopped : AppStatus::failed);
}

/// Starts the next process after a crash; null if the server should not be restarted.
Task<std::unique_ptr<Process>> DevServer::relaunch() {
  if (restarts_ == limits_.max_restarts) {
    note(fmt::format("crashed {} times: not started again", restarts_ + 1));
    co_return nullptr;
  }
  assert_invariants();
  AGW_ASSERT(!pid_);
  const auto backoff = limits_.first_backoff * (1 << restarts_);
  note(fmt::format("starting again in {} ms", backoff.count()));
  set_status(AppStatus::starting);
  if (co_await pause(*stopping_, backoff) == WaitResult::stopped) co_return nullptr;
  ++restarts_;
  try {
    co_return co_await launch();
  } catch (const std::exception& error) {  // For example, a secret has been deleted.
    note(fmt::format("cannot be started: {}", error.what()));
  }
  co_return nullptr;
}

/// Supervises a process from its start until it and all its children have ended.
Task<DevServer::Outcome> DevServer::follow(Process& process) {
  const auto id = process.id();
  AGW_ASSERT(alive_);
  AGW_ASSERT(pid_ == id);
  const auto began = std::chrono::steady_clock::now();
  co_await callbacks_.started(id);
  TaskGroup readers(loop_);
  readers.spawn(read_lines(process, ProcessStream::output));
  readers.spawn(read_lines(process, ProcessStream::error));
  StopSource ending;
  const StopSource::Listener asked(*stopping_, [&] { ending.request(); });
  StopSource unresponsive;
  const StopSource::Listener gave_up(unresponsive, [&] { ending.request(); });
  TaskGroup watchers(loop_);
  watchers.spawn(watch(unresponsive));
  ProcessExit end;
  const auto ended = co_await with_timeout(ending, no_limit, wait_for_end(process, end));
  watchers.cancel();
  co_await watchers.join();
  if (ended == WaitResult::done) note(text_of(end));
  if (ended != WaitResult::done) co_await with_timeout(*kill_now_, grace_, terminate(process, end, began));
  // Even if the process ended on its own, its children may still be running.
  co_await process.end(0ms);
  StopSource never;
  co_await with_timeout(never, output_grace, readers.join());
  readers.cancel();
  co_await readers.join();
  co_await close_network();
  AGW_ASSERT(pid_ == id);
  pid_.reset();
  started_at_.reset();
  assert_invariants();
  co_await callbacks_.ended(id);
  if (stopping_->requested()) co_return Outcome::stopped;
  co_return unresponsive.requested() ? Outcome::unresponsive : Outcome::crashed;
}

Task<> DevServer::wait_for_end(Process& process, ProcessExit& end) { end = co_await process.wait(); }

/// Sends SIGTERM. Repeats it during the first second, because a sandbox ignores signals while it starts.
Task<> DevServer::terminate(Process& process, ProcessExit& end, std::chrono::steady_clock::time_point began) {
  StopSource never;
  process.signal(SIGTERM);
  while (std::chrono::steady_clock::now() < began + sandbox_start_time) {
    if (co_await with_timeout(never, poll_interval, wait_for_end(process, end)) == WaitResult::done) co_return;
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
    if (taken < max_bytes_per_span) continue;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    StopSource never;
    if (passed < read_span) co_await pause(never, read_span - passed);
    taken = 0;
    began = std::chrono::steady_clock::now();
  }
  log_.finish(stream_of(stream), clock_.now());
}

/// Waits until the server accepts connections, and then until it is healthy. Requests `unresponsive` if that takes too
/// long.
Task<> DevServer::watch(StopSource& unresponsive) {
  const auto deadline = std::chrono::steady_clock::now() + limits_.start_timeout;
  const bool is_up = co_await is_healthy_before(deadline, "") && open_port() &&
                     (start_.health_path.empty() || co_await is_healthy_before(deadline, start_.health_path));
  AGW_ASSERT(pid_);
  if (is_up)
    set_status(AppStatus::running);
  else
    unresponsive.request();
}

Task<bool> DevServer::is_healthy_before(std::chrono::steady_clock::time_point deadline, std::string path) {
  StopSource never;
  while (!co_await is_healthy(endpoint(), path)) {
    if (std::chrono::steady_clock::now() > deadline) {
      note(fmt::format("did not answer at port {} within {} s: ended", port_, limits_.start_timeout.count() / 1000));
      co_return false;
    }
    co_await pause(never, poll_interval);
  }
  co_return true;
}

void DevServer::set_status(AppStatus status) {
  status_ = status;
  callbacks_.changed();
}

void DevServer::note(std::string line) { log_.note(std::move(line), clock_.now()); }

}  // namespace agw
