#include <bitset>
#include <utility>

#include "base/text/utf8.hpp"
#include "features/threads/search_query.hpp"

namespace agw {

namespace {

constexpr std::size_t max_places = 1000;
constexpr std::string_view ellipsis = "…";

/// The first and last word of a match, by number.
struct Place {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t term = 0;
};

std::vector<Place> places_of(const SearchQuery& query, const std::vector<IndexedWord>& tokens) {
  std::vector<Place> places;
  for (std::size_t n = 0; n < tokens.size() && places.size() < max_places; ++n) {
    for (std::size_t i = 0; i < query.terms().size(); ++i) {
      const auto& term = query.terms()[i];
      if (occurs_at(term, tokens, n)) places.push_back({n, n + term.words.size() - 1, i});
    }
  }
  return places;
}

/// The first word of the passage that contains the most different terms.
std::size_t best_start(const std::vector<Place>& places, const std::vector<IndexedWord>& tokens) {
  std::size_t best = 0;
  std::size_t best_count = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto limit = tokens[places[i].first].begin + snippet_bytes;
    std::bitset<SearchQuery::max_terms> shown;
    for (std::size_t k = i; k < places.size() && tokens[places[k].last].end <= limit; ++k) shown.set(places[k].term);
    if (shown.count() > best_count) {
      best_count = shown.count();
      best = places[i].first;
    }
  }
  return best_count > 0 || places.empty() ? best : places.front().first;
}

/// Replaces blanks and control characters between words with one space.
void append_on_one_line(std::string& out, std::string_view text) {
  bool blank = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') {
      blank = true;
      continue;
    }
    if (std::exchange(blank, false) && !out.empty()) out += ' ';
    out += c;
  }
}

/// `place`, moved back to the start of its character.
std::size_t character_at(std::string_view text, std::size_t place) { return utf8_prefix(text, place).size(); }

}  // namespace

std::string snippet_of(std::string_view text, const std::vector<IndexedWord>& tokens, const SearchQuery& query) {
  if (tokens.empty()) return {};
  // Also shows a few words before the first match.
  auto first = best_start(places_of(query, tokens), tokens);
  const auto match = tokens[first].begin;
  while (first > 0 && match - tokens[first - 1].begin <= snippet_bytes / 4) --first;
  auto last = first;
  while (last + 1 < tokens.size() && tokens[last + 1].end - tokens[first].begin <= snippet_bytes * 5 / 4) ++last;

  const auto begin = first == 0 ? 0 : tokens[first].begin;
  const auto whole = last + 1 == tokens.size() && text.size() - begin <= 2 * snippet_bytes;
  const auto end = whole ? text.size() : character_at(text, std::min(tokens[last].end, begin + 2 * snippet_bytes));
  std::string snippet(begin > 0 ? ellipsis : "");
  append_on_one_line(snippet, text.substr(begin, end - begin));
  if (end < text.size()) snippet += ellipsis;
  return snippet;
}

}  // namespace agw
