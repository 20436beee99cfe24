#pragma once

#include <string_view>
#include <vector>

namespace agw {

// Scripts that are written without blanks between words: Chinese, Japanese, Thai and the like. The search indexes know
// what stands between two signs as one word there, mostly a whole sentence.

/// Whether there is a letter of such a script in the text.
bool has_unspaced(std::string_view utf8);

/// What stands between signs such as `、` or `？`, which other scripts need blanks or ASCII for.
std::vector<std::string_view> between_signs(std::string_view utf8);

}  // namespace agw
