#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agw {

/// Whether the byte is a later one of a character of several.
inline bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Beginnings of valid UTF-8, which are valid UTF-8 too.

/// The longest beginning of at most `bytes` bytes.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes);

/// The text where it has at most `bytes` bytes; else its longest such beginning, with `…` behind it.
std::string shortened(std::string_view text, std::size_t bytes);
/// The first `count` characters (code points).
std::string_view first_characters(std::string_view text, std::size_t count);

/// How many characters (code points) there are.
std::int64_t count_characters(std::string_view text);

}  // namespace agw
