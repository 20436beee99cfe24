// A program that passes its own standard streams on may have made them non-blocking, as Node.js does.

#include "cli/output/line_streams.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace agw::cli {

namespace {

constexpr std::size_t chunk_size = 64 << 10;

/// Whether to repeat a call that has failed, once the descriptor is ready for it.
bool may_repeat(int descriptor, short event) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd ready{.fd = descriptor, .events = event, .revents = 0};
  ::poll(&ready, 1, -1);
  return true;
}

}  // namespace

std::optional<LineReader::Line> LineReader::next() {
  Line line;
  bool has_begun = false;
  while (used_ < chunk_.size() || fill()) {
    has_begun = true;
    const auto end = chunk_.find('\n', used_);
    const auto size = (end == chunk_.npos ? chunk_.size() : end) - used_;
    if (line.text.size() + size > limit_) line = {.text = {}, .is_too_long = true};
    if (!line.is_too_long) line.text.append(chunk_, used_, size);
    used_ += size;
    if (end == chunk_.npos) continue;
    ++used_;
    return line;
  }
  return has_begun ? std::optional(std::move(line)) : std::nullopt;
}

bool LineReader::fill() {
  used_ = 0;
  chunk_.resize(chunk_size);
  ssize_t count = 0;
  do {
    count = ::read(descriptor_, chunk_.data(), chunk_.size());
  } while (count < 0 && may_repeat(descriptor_, POLLIN));
  chunk_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return count > 0;
}

int write_line(int descriptor, std::string_view text) {
  const auto line = std::string(text) + '\n';
  std::size_t written = 0;
  while (written < line.size()) {
    const auto count = ::write(descriptor, line.data() + written, line.size() - written);
    if (count < 0 && !may_repeat(descriptor, POLLOUT)) return errno;
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace agw::cli
