#pragma once

#include <string_view>

namespace agw {

/// What separates words and lines, and the tokens of JSON.
inline constexpr std::string_view white_space = " \t\r\n";

/// Whether nothing else is in it.
inline bool is_blank(std::string_view text) { return text.find_first_not_of(white_space) == std::string_view::npos; }

}  // namespace agw
