#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace agw {

/// The white space of JSON.
inline constexpr std::string_view white_space = " \t\r\n";

/// Whether `text` is empty or all white space.
inline bool is_blank(std::string_view text) { return text.find_first_not_of(white_space) == std::string_view::npos; }

// Classes of ASCII characters, the same in every locale.

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Whether `text` contains a control character.
inline bool has_control(std::string_view text) { return std::ranges::any_of(text, is_control); }

/// The small form of a capital letter; any other character as it is.
constexpr char to_lower(char c) { return static_cast<char>(c + (is_upper(c) ? 'a' - 'A' : 0)); }

// `is_ascii` and `ascii_lower_case` have no branches, so that the compiler can vectorise them.

inline bool is_ascii(std::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

/// Changes only the letters A to Z, in every locale.
inline std::string ascii_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

/// Removes the first line from `text` and returns it without its line end (LF or CRLF). Leaves `text` empty after the
/// last line.
inline std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  auto line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Whether `text` is a name of an environment variable that shells accept: ASCII letters, digits and `_`, not starting
/// with a digit (POSIX, base definitions, 3.216).
inline bool is_variable_name(std::string_view text) {
  const auto is_word = [](char c) { return is_alphanumeric(c) || c == '_'; };
  return !text.empty() && std::ranges::all_of(text, is_word) && !is_digit(text[0]);
}

}  // namespace agw
