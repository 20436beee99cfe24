#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// How many of the words a text must have.
enum class Match { all, any };

inline constexpr std::size_t max_search_words = 12;

/// The words of a message that are worth a search, in lower case and once each: without punctuation, without those that
/// stand in every English question. A "quoted phrase" is one of them, as a whole.
std::vector<std::string> search_words(std::string_view message);

/// The words in the syntax of the turn search; other forms of a word match, too (`deploys` finds `deployed`).
std::string search_query(const std::vector<std::string>& words, Match match);

/// Whether a text matches the words as `search_query` would have it.
bool matches(std::string_view text, const std::vector<std::string>& words, Match match);

/// Whether `text` is a question for nothing but these words: no answer to them.
bool only_asks_for(std::string_view text, const std::vector<std::string>& words);

}  // namespace agw
