#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agw {

/// The number of characters of a tool's result that a model reads at most.
inline constexpr std::size_t max_result_characters = 100'000;

/// `text` (UTF-8); if it is longer, its middle is replaced by a line that says how much is missing.
std::string truncate_middle(std::string_view text, std::size_t most = max_result_characters);

}  // namespace agw
