#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// Whether a text must contain all or any of the words.
enum class Match { all, any };

inline constexpr std::size_t max_search_words = 12;

/// Returns the search words of a message in lower case, without duplicates, punctuation and stop words. A "quoted
/// phrase" counts as one word.
std::vector<std::string> search_words(std::string_view message);

/// Returns the query in the syntax of the turn search. Inflected forms match too (`deploys` finds `deployed`).
std::string search_query(const std::vector<std::string>& words, Match match);

/// Whether a text matches the words by the rules of `search_query`.
bool matches(std::string_view text, const std::vector<std::string>& words, Match match);

/// Whether `text` is only a request for these words, and therefore no answer to it.
bool only_asks_for(std::string_view text, const std::vector<std::string>& words);

}  // namespace agw
