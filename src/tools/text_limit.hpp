#pragma once

#include <cstddef>
#include <string>

namespace agw {

/// How much of one answer a model reads at most, in bytes.
inline constexpr std::size_t most_answer_bytes = 100'000;

/// `text` (UTF-8), cut in the middle where it is longer, with a line that says how much is missing.
std::string limited(std::string text, std::size_t most = most_answer_bytes);

}  // namespace agw
