#pragma once

#include <string>
#include <string_view>

namespace agw::cli {

/// `text` with everything that would steer a terminal, or turn the reading direction, made visible: `\x1b`, `\u202e`.
/// That is C0 but line feed and tab, DEL, C1, U+202A to U+202E and U+2066 to U+2069; what is not UTF-8 becomes U+FFFD.
/// What agents, titles and errors say goes through it before it is printed.
std::string printable(std::string_view text);

/// Compact JSON with the same characters as `\u001b`, `\u202e`, of which it says the same as before.
std::string printable_json(std::string_view text);

/// `printable` text on one line of at most `limit` characters: white space becomes single spaces, and `…` ends what was
/// cut.
std::string one_line(std::string_view text, std::size_t limit = std::string::npos);

/// One word of a shell's command line, which somebody may copy.
std::string in_quotes(std::string_view text);

}  // namespace agw::cli
