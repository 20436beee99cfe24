#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agw {

// Operations on valid UTF-8 whose results are valid UTF-8.

/// Returns `text` on one line, truncated to `bytes` bytes with `…`.
std::string on_one_line(std::string_view text, std::size_t bytes);

/// Returns the first sentence or line, on one line, truncated to `bytes` bytes.
std::string first_sentence(std::string_view text, std::size_t bytes);

/// Returns the beginning of `text` to stream next: a few whole words, or part of a very long word. Empty only if `text`
/// is.
std::string_view next_piece(std::string_view text);

/// Returns the estimated number of tokens: one per four characters, rounded up.
std::int64_t token_estimate(std::string_view text);

}  // namespace agw
