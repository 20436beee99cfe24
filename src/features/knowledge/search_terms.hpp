#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// A search term: a word or a phrase, and its weight.
struct SearchTerm {
  std::string query;  ///< in FTS5's query syntax; valid for any input
  double weight = 1;
  std::string part = {};  ///< the word, if it also matches inside words: see base/text/word_segmentation.hpp
};

/// Whether a page must contain any or all of the terms.
enum class TermsWanted { any, all };

inline constexpr std::size_t max_search_terms = 24;

/// The terms of a question: its words except for stop words, its "quoted phrases", its `prefixes*`, and the parts of
/// compound words. If the question has only stop words, these are used.
std::vector<SearchTerm> search_terms(std::string_view question);

/// Whether a word, in lower case, is too common in English to indicate a text's subject.
bool is_stop_word(std::string_view word);

}  // namespace agw
