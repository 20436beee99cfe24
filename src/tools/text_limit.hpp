#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agw {

/// How much of one answer a model reads at most, in characters.
inline constexpr std::size_t most_answer_characters = 100'000;

/// `text` (UTF-8), cut in the middle where it is longer, with a line that says how much is missing.
std::string limited(std::string_view text, std::size_t most = most_answer_characters);

}  // namespace agw
