#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// Something that is sought in the pages: a word or words that stand together, and how much they count.
struct SearchTerm {
  std::string query;  ///< in the language of the full-text index; whatever was typed, it is valid
  double weight = 1;
  std::string part = {};  ///< the word, where it is looked for within words too: see base/text/word_segmentation.hpp
};

/// How many of the terms a page must have.
enum class TermsWanted { any, all };

inline constexpr std::size_t max_search_terms = 24;

/// What of a question is worth a search: its words without those that stand in every English question, its "quoted
/// phrases", its `prefixes*`, and the parts of compound words. A question of nothing but common words is sought as it
/// stands.
std::vector<SearchTerm> search_terms(std::string_view question);

/// Whether a word, in lower case, stands in every English text and says nothing of what it is about.
bool is_stop_word(std::string_view word);

}  // namespace agw
