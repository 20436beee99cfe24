#include "features/apps/log.hpp"

#include <algorithm>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"

namespace agw {

namespace {

/// The last lines of `bytes`, as many as the log can hold. Limits the work for a flood of output.
std::string_view last_lines(std::string_view bytes) {
  auto start = bytes.size();
  for (std::size_t lines = 0; lines <= AppLog::max_lines; ++lines) {
    if (start == 0) return bytes;
    start = bytes.rfind('\n', start - 1);
    if (start == bytes.npos) return bytes;
  }
  return bytes.substr(start + 1);
}

}  // namespace

void AppLog::add(AppStream stream, std::string_view bytes, Timestamp now) {
  auto& line = unfinished_[static_cast<std::size_t>(stream)];
  if (const auto tail = last_lines(bytes); tail.size() < bytes.size()) {
    line = {};
    bytes = tail;
  }
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    extend(line, bytes.substr(0, end));
    if (end == bytes.size()) return;
    end_line(stream, now);
    bytes.remove_prefix(end + 1);
  }
}

void AppLog::extend(Unfinished& line, std::string_view bytes) {
  AGW_ASSERT(line.text.size() <= max_line_length);
  const auto available = max_line_length - line.text.size();
  line.is_truncated = line.is_truncated || bytes.size() > available;
  line.text += bytes.substr(0, available);
}

void AppLog::finish(AppStream stream, Timestamp now) {
  const auto& line = unfinished_[static_cast<std::size_t>(stream)];
  if (!line.text.empty()) end_line(stream, now);
}

void AppLog::end_line(AppStream stream, Timestamp now) {
  auto& line = unfinished_[static_cast<std::size_t>(stream)];
  if (line.text.ends_with('\r')) line.text.pop_back();
  auto text = to_utf8(line.text);
  if (line.is_truncated) text += "…";
  line = {};
  append(stream, std::move(text), now);
}

void AppLog::append(AppStream stream, std::string line, Timestamp now) {
  if (lines_.size() == max_lines) lines_.pop_front();
  lines_.push_back({now, stream, std::move(line)});
  AGW_ASSERT(lines_.size() <= max_lines);
}

std::vector<AppLogLine> AppLog::last(std::size_t count) const {
  const auto tail = std::min(count, lines_.size());
  return {lines_.end() - static_cast<std::ptrdiff_t>(tail), lines_.end()};
}

}  // namespace agw
