#include "storage/word_vector.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/async/assert.hpp"
#include "base/text/utf8.hpp"
#include "base/text/word_segmentation.hpp"

namespace agw {

namespace {

/// PostgreSQL allows 2,046 bytes; index entries should be short.
constexpr std::size_t max_word_bytes = 255;
static_assert(max_word_bytes < 2'046);
/// PostgreSQL allows 1,048,575 bytes of words and positions.
constexpr std::size_t max_vector_bytes = 900'000;
static_assert(max_vector_bytes + max_word_bytes < 1'048'575);
/// PostgreSQL's maximum position.
constexpr std::size_t max_place = 16'383;
/// PostgreSQL keeps 255 positions per word, of two bytes each; this is their longest text.
constexpr std::size_t max_places_bytes = 254 * 5;
constexpr std::size_t bytes_of_entry = 8;
constexpr std::size_t max_pairs = 32;
/// A character that no tokenizer leaves in a word.
constexpr std::string_view mark = "=";

std::string in_quotes(std::string_view word) {
  std::string text("'");
  for (const char c : word) {
    if (c == '\'' || c == '\\') text += c;
    text += c;
  }
  return text += '\'';
}

/// Calls `take` for each pair of adjacent letters, and for the last letter alone.
template <class Take>
void for_each_pair(std::string_view word, const Take& take) {
  while (!word.empty()) {
    take(first_characters(word, 2));
    word.remove_prefix(std::max<std::size_t>(1, first_characters(word, 1).size()));
  }
}

}  // namespace

void WordVector::assert_invariants() const {
  AGW_ASSERT(places_.size() == order_.size());
  AGW_ASSERT(fitting_ <= order_.size());
  // The words that fit are the first ones, up to the limit.
  AGW_ASSERT(fitting_ == order_.size() || bytes_ > max_vector_bytes);
  AGW_ASSERT(next_place_ > 0);
}

void WordVector::add_at(std::string_view word, std::string_view place) {
  AGW_DEBUG_ASSERT(word.size() <= max_word_bytes);
  auto found = places_.find(word);
  if (found == places_.end()) {
    found = places_.emplace(word, "").first;
    order_.emplace_back(word);
    bytes_ += word.size() + bytes_of_entry;
    if (bytes_ <= max_vector_bytes) fitting_ = order_.size();
  }
  if (place.empty()) return;
  if (bytes_ > max_vector_bytes || found->second.size() > max_places_bytes) {
    is_long_ = true;
    return;
  }
  bytes_ += 2;
  (found->second += found->second.empty() ? ":" : ",").append(place);
}

void WordVector::add(std::string_view word) {
  add_at(utf8_prefix(word, max_word_bytes), {});
  if (!has_unsegmented_script(word)) return;
  for_each_pair(word, [this](std::string_view pair) { add_at(std::string(mark).append(pair), {}); });
}

void WordVector::add_field(const std::vector<std::string_view>& words, char weight) {
  AGW_ASSERT(weight >= 'A');
  AGW_ASSERT(weight <= 'D');
  assert_invariants();
  for (const auto word : words) {
    is_long_ = is_long_ || next_place_ >= max_place;
    const auto place = fmt::format("{}{}", std::min(next_place_++, max_place), weight);
    add_at(utf8_prefix(word, max_word_bytes), place);
    if (!has_unsegmented_script(word)) continue;
    for_each_pair(word, [&](std::string_view pair) { add_at(std::string(mark).append(pair), place); });
  }
  // Prevents phrases from matching across two fields.
  ++next_place_;
  assert_invariants();
}

bool WordVector::is_cut() const { return fitting_ < order_.size(); }

std::string WordVector::text() const {
  assert_invariants();
  std::string text;
  if (is_long_ || is_cut()) text.append(long_query()) += ' ';
  for (std::size_t i = 0; i < fitting_; ++i)
    text.append(in_quotes(order_[i])).append(places_.find(order_[i])->second) += ' ';
  return text;
}

std::string word_query(std::string_view word, bool prefix) {
  return in_quotes(utf8_prefix(word, max_word_bytes)) + (prefix ? ":*" : "");
}

std::string part_query(std::string_view part) {
  AGW_DEBUG_ASSERT(!part.empty());
  std::vector<std::string> pairs;
  for_each_pair(part, [&](std::string_view pair) {
    const bool last = pair.data() + pair.size() == part.data() + part.size();
    const bool alone = first_characters(pair, 1).size() == pair.size();
    // Skips the last letter, which the last pair contains, unless it is the only letter.
    if (pairs.size() == max_pairs || (last && alone && !pairs.empty())) return;
    pairs.push_back(in_quotes(std::string(mark).append(pair)) + (alone ? ":*" : ""));
  });
  return fmt::format("({})", fmt::join(pairs, " & "));
}

std::string phrase_query(const std::vector<std::string>& words, bool prefix) {
  AGW_DEBUG_ASSERT(!words.empty());
  std::vector<std::string> queries;
  queries.reserve(words.size());
  for (const auto& word : words) queries.push_back(word_query(word, prefix && &word == &words.back()));
  if (queries.size() == 1) return queries.front();
  return fmt::format("(({}) | ({} & {}))", fmt::join(queries, " <-> "), fmt::join(queries, " & "), long_query());
}

std::string_view long_query() { return "'='"; }

}  // namespace agw
