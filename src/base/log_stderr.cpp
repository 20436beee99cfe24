#include "base/log_stderr.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

namespace agw::log {

namespace {

/// Reopens the terminal with its own flags, because O_NONBLOCK on stderr itself would affect the shell too. It must be
/// non-blocking: poll reports a terminal as writable if one byte fits, and a larger write would then block.
int open_terminal() {
  if (::isatty(STDERR_FILENO) == 0) return -1;
  return ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

StandardErrorSink::StandardErrorSink(std::function<std::string(std::size_t)> notice)
    : notice_(std::move(notice)), descriptor_(open_terminal()) {
  if (descriptor_ < 0) descriptor_ = STDERR_FILENO;
}

StandardErrorSink::~StandardErrorSink() {
  if (descriptor_ != STDERR_FILENO) ::close(descriptor_);
}

void StandardErrorSink::sink_it_(const spdlog::details::log_msg& message) {
  write_waiting();
  if (!waiting_.empty() || !has_room()) {
    ++left_out_;
    return;
  }
  if (const auto count = std::exchange(left_out_, 0); count > 0) {
    append({message.time, {}, message.logger_name, spdlog::level::warn, notice_(count)});
  }
  append(message);
  write_waiting();
}

void StandardErrorSink::append(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  waiting_.append(line.data(), line.size());
}

bool StandardErrorSink::has_room() const {
  pollfd entry{.fd = descriptor_, .events = POLLOUT, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

void StandardErrorSink::write_waiting() {
  std::string_view rest = waiting_;
  // A pipe that is writable has room for PIPE_BUF bytes.
  while (!rest.empty() && has_room()) {
    const auto written = ::write(descriptor_, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      rest = {};  // closed: nothing will read it
    }
  }
  waiting_.erase(0, waiting_.size() - rest.size());
}

}  // namespace agw::log
