#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agw {

// Small operations on valid UTF-8 that leave it valid.

/// `text` on one line, with `…` where it was cut to `bytes` bytes.
std::string on_one_line(std::string_view text, std::size_t bytes);

/// The first sentence or line, on one line, cut to `bytes` bytes.
std::string first_sentence(std::string_view text, std::size_t bytes);

/// The beginning of `text` that is streamed next: a few whole words, or a part of a very long one. Empty only for an
/// empty text.
std::string_view next_piece(std::string_view text);

/// How many tokens a text counts as: one for four characters, rounded up.
std::int64_t token_estimate(std::string_view text);

}  // namespace agw
