#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

// Support for scripts without spaces between words: Chinese, Japanese, Thai and others. The search indexes treat the
// text between two punctuation marks, usually a whole sentence, as one word of such a script.

/// The maximum number of terms of a query that are searched for within words, because each of them takes a scan of all
/// words in such scripts.
inline constexpr int max_unsegmented_terms = 8;

/// Whether the text contains a letter of a script without spaces.
bool has_unsegmented_script(std::string_view utf8);

/// The number of bytes before the text switches, within a word, between scripts with and without spaces, as in
/// `Python3入門`. Digits in between belong to the script with spaces.
std::size_t script_run_length(std::string_view utf8);
/// Splits a text into such runs.
std::vector<std::string_view> split_by_script(std::string_view utf8);

/// U+200B: separates words as a space does, but is invisible.
inline constexpr std::string_view word_break = "\xe2\x80\x8b";
/// The text with word breaks between its runs.
std::string with_word_breaks(std::string_view utf8);

/// The pieces between punctuation marks such as `、` or `？`, which take the role of spaces and ASCII punctuation.
std::vector<std::string_view> split_by_punctuation(std::string_view utf8);

}  // namespace agw
