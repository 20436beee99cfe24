#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agw {

/// Whether the byte continues a multi-byte UTF-8 character.
inline bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The halves of a character beyond U+FFFF in UTF-16.

constexpr bool is_high_surrogate(unsigned unit) { return unit >= 0xd800 && unit < 0xdc00; }
constexpr bool is_low_surrogate(unsigned unit) { return unit >= 0xdc00 && unit < 0xe000; }

// Prefixes of valid UTF-8, which are themselves valid UTF-8.

/// The longest prefix of at most `bytes` bytes.
/// Example: src/base/text/utf8_test.cpp: Utf8Prefix.EndsBetweenCharacters
std::string_view utf8_prefix(std::string_view text, std::size_t bytes);

/// The text if it has at most `bytes` bytes, otherwise its longest prefix of that size, followed by `…`.
std::string shortened(std::string_view text, std::size_t bytes);
/// The first `count` characters (code points).
std::string_view first_characters(std::string_view text, std::size_t count);

/// The number of characters (code points).
std::int64_t count_characters(std::string_view text);

/// `utf8` with Latin, Greek, Cyrillic and Armenian upper-case letters in lower case. Invalid UTF-8 is left out.
/// Independent of the host's locales.
std::string lower_case(std::string_view utf8);

/// Whether the text shows nothing: it has only white space, characters that Unicode marks as ignorable (U+200B, U+FEFF)
/// and blanks of other names (U+2800).
/// Example: src/base/text/utf8_test.cpp: Invisible.IsWhatNobodySees
bool is_invisible(std::string_view utf8);

}  // namespace agw
