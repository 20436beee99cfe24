#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

// Scripts that are written without spaces between words: Chinese, Japanese, Thai and others. The search indexes take
// the text between two punctuation marks for one word there, usually a whole sentence.

/// At most this many terms of a query are searched for within words, because each takes a scan of all such words.
inline constexpr int max_unsegmented_terms = 8;

/// Whether the text contains a letter of such a script.
bool has_unsegmented_script(std::string_view utf8);

/// The number of bytes before the text switches, within a word, between such a script and another one, as in
/// `Python3入門`. Digits in between belong to the run before them.
std::size_t script_run_length(std::string_view utf8);
/// All runs of a text.
std::vector<std::string_view> split_by_script(std::string_view utf8);

/// Separates words as a space does, but is invisible (U+200B).
inline constexpr std::string_view word_break = "\xe2\x80\x8b";
/// The text with word breaks between its runs.
std::string with_word_breaks(std::string_view utf8);

/// The pieces between punctuation marks such as `、` or `？`, where other scripts have spaces or ASCII.
std::vector<std::string_view> split_by_punctuation(std::string_view utf8);

}  // namespace agw
