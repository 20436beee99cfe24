#include "features/daemon/service.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/log_ids.hpp"
#include "io/process/scoped_signal_block.hpp"

namespace agw {

namespace {

/// `nohup` ignores signals, so that a program outlives its terminal.
bool is_ignored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Daemon::Daemon(Loop& loop, Ending ending) : ending_(std::move(ending)), signals_(loop, SIGINT, SIGTERM), delay_(loop) {
  if (!is_ignored(SIGHUP)) signals_.add(SIGHUP);
}

Daemon::~Daemon() {
  boost::system::error_code ignored;
  const ScopedSignalBlock meanwhile;
  signals_.clear(ignored);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
}

void Daemon::start() {
  signals_.async_wait([this](boost::system::error_code error, int signal) {
    if (error) return;
    if (signal == SIGTERM && drain_) {
      log::info("signal {}: no new runs; a second signal stops at once", signal);
      is_draining_ = true;
      std::exchange(drain_, nullptr)();
      return start();
    }
    log::info("stopping on signal {}", signal);
    end(ExitStatus::success);
  });
}

void Daemon::announce(const std::string& url) {
  const auto line = fmt::format("listening on {}", url);
  fmt::print("{}\n", line);
  std::fflush(stdout);
  const bool shows_both = ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  shows_both ? log::write_to_file(log::Level::info, line) : log::info("{}", line);
}

void Daemon::stop() {
  boost::system::error_code ignored;
  signals_.cancel(ignored);
  delay_.cancel();
}

void Daemon::end_after(std::chrono::milliseconds delay, ExitStatus status) {
  AGW_ASSERT(delay.count() >= 0);
  // A stop takes precedence over a restart, regardless of their order.
  if (asked_ == status || asked_ == ExitStatus::success) return;
  asked_ = status;
  delay_.expires_after(delay);
  delay_.async_wait([this](boost::system::error_code error) {
    AGW_ASSERT(asked_);
    if (!error) end(*asked_);
  });
}

void Daemon::end(ExitStatus status) {
  asked_ = status;
  if (const auto ending = std::exchange(ending_, nullptr)) ending(status);
}

std::chrono::milliseconds Daemon::uptime() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started_);
}

}  // namespace agw
