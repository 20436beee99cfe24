#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

// Scripts that are written without blanks between words: Chinese, Japanese, Thai and the like. The search indexes know
// what stands between two signs as one word there, mostly a whole sentence.

/// So many words of a query are looked for within words, which takes a look at all of these.
inline constexpr int most_unspaced_parts = 8;

/// Whether there is a letter of such a script in the text.
bool has_unspaced(std::string_view utf8);

/// How many bytes go by before letters of such a script follow those of another in a word, or the other way round, as
/// in `Python3入門`. The digits between them stay with the others.
std::size_t bytes_of_one_script(std::string_view utf8);
/// All such pieces of a text.
std::vector<std::string_view> between_scripts(std::string_view utf8);

/// Divides words as a blank does, and is not seen (U+200B).
inline constexpr std::string_view seam = "\xe2\x80\x8b";
/// The text with seams between its pieces.
std::string with_seams(std::string_view utf8);

/// What stands between signs such as `、` or `？`, which other scripts need blanks or ASCII for.
std::vector<std::string_view> between_signs(std::string_view utf8);

}  // namespace agw
