#pragma once

#include <string>
#include <string_view>

namespace agw {

/// `text` with visible escapes (`\x1b`, `\u202e`) for all characters that control a terminal or change the reading
/// direction: C0 except line feed and tab, DEL, C1, U+202A to U+202E and U+2066 to U+2069. Invalid UTF-8 becomes
/// U+FFFD. The command line prints agents' texts, titles and errors only in this form.
/// Example: src/base/printable_test.cpp: Printable.ShowsControlCharacters
std::string printable(std::string_view text);

/// Compact JSON with the same characters escaped as `\u001b`, `\u202e`; its value is unchanged.
std::string printable_json(std::string_view text);

/// `printable` text on one line of at most `limit` characters: white space becomes single spaces, and `…` ends a
/// truncated text.
std::string one_line(std::string_view text, std::size_t limit = std::string::npos);

/// `word` quoted for a shell's command line.
std::string shell_quoted(std::string_view text);

}  // namespace agw
