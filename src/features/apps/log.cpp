#include "features/apps/log.hpp"

#include <algorithm>

#include "base/json/json.hpp"

namespace agw {

namespace {

/// The end of `bytes` that can still be among the kept lines, so that a flood costs no more than that.
std::string_view worth_keeping(std::string_view bytes) {
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
  if (const auto kept = worth_keeping(bytes); kept.size() < bytes.size()) {
    line = {};
    bytes = kept;
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
  const auto room = max_line_length - line.text.size();
  line.cut = line.cut || bytes.size() > room;
  line.text += bytes.substr(0, room);
}

void AppLog::finish(AppStream stream, Timestamp now) {
  const auto& line = unfinished_[static_cast<std::size_t>(stream)];
  if (!line.text.empty()) end_line(stream, now);
}

void AppLog::end_line(AppStream stream, Timestamp now) {
  auto& line = unfinished_[static_cast<std::size_t>(stream)];
  if (line.text.ends_with('\r')) line.text.pop_back();
  auto text = to_utf8(line.text);
  if (line.cut) text += "…";
  line = {};
  keep(stream, std::move(text), now);
}

void AppLog::keep(AppStream stream, std::string line, Timestamp now) {
  if (lines_.size() == max_lines) lines_.pop_front();
  lines_.push_back({now, stream, std::move(line)});
}

std::vector<AppLogLine> AppLog::last(std::size_t count) const {
  const auto kept = std::min(count, lines_.size());
  return {lines_.end() - static_cast<std::ptrdiff_t>(kept), lines_.end()};
}

}  // namespace agw
