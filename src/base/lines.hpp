#pragma once

#include <string_view>

namespace agw {

/// The line at the front of `text`, without its end (a line feed, or a carriage return and a line feed); taken off
/// `text`, which is empty after the last.
inline std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  auto line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace agw
