#include "cli/acp/line_reader.hpp"

#include <unistd.h>

#include <cerrno>

namespace agw::cli {

namespace {

constexpr std::size_t chunk_size = 64 << 10;

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
  } while (count < 0 && errno == EINTR);
  chunk_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return count > 0;
}

}  // namespace agw::cli
