#pragma once

#include <cstddef>
#include <string_view>

namespace agw {

// Beginnings of valid UTF-8, which are valid UTF-8 too.

/// The longest beginning of at most `bytes` bytes.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes);

/// The first `count` characters (code points).
std::string_view first_characters(std::string_view text, std::size_t count);

}  // namespace agw
