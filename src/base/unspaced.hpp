#pragma once

#include <string_view>
#include <vector>

namespace agw {

// Scripts that are written without blanks between words: Chinese, Japanese, Thai and the like. The search indexes know
// what stands between two signs as one word there, mostly a whole sentence.

/// So many words of a query are looked for within words, which takes a look at all of these.
inline constexpr int most_unspaced_parts = 8;

/// Whether there is a letter of such a script in the text.
bool has_unspaced(std::string_view utf8);

/// What stands between signs such as `、` or `？`, which other scripts need blanks or ASCII for.
std::vector<std::string_view> between_signs(std::string_view utf8);

}  // namespace agw
