#include "features/threads/unindexed_words.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/async/assert.hpp"
#include "storage/tokenizer.hpp"

namespace agw {

using search_store::Numbers;

namespace {

constexpr std::int64_t turns_per_block = 64;
constexpr int blocks_per_batch = 64;
constexpr std::size_t bytes_per_batch = 1024 * 1024;
constexpr std::size_t bits_per_word = 15;
constexpr std::size_t bits_per_cell = 64;
static_assert(bits_per_cell == std::numeric_limits<std::uint64_t>::digits);

std::int64_t first_number(std::int64_t block) { return block * turns_per_block; }
std::int64_t last_number(std::int64_t block) { return first_number(block + 1) - 1; }

void keep_different(std::vector<std::uint64_t>& hashes) {
  std::ranges::sort(hashes);
  const auto repeated = std::ranges::unique(hashes);
  hashes.erase(repeated.begin(), repeated.end());
}

std::uint64_t hash_of(std::string_view word) { return std::hash<std::string_view>{}(word); }

/// Each bit of the result depends on all bits of the number (the end of splitmix64).
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

/// The hashes of the whole words that a text with this term must contain.
std::vector<std::uint64_t> whole_words(const SearchQuery::Term& term) {
  std::vector<std::uint64_t> hashes;
  if (term.is_part) return hashes;
  for (const auto& word : term.words) {
    if (!term.prefix || &word != &term.words.back()) hashes.push_back(hash_of(word));
  }
  return hashes;
}

/// Appends a range, in descending order, and joins adjacent ones.
void add(std::vector<Numbers>& places, Numbers more) {
  if (more.first > more.last) return;
  AGW_ASSERT(places.empty() || more.last < places.back().first);
  if (!places.empty() && places.back().first == more.last + 1) {
    places.back().first = more.first;
  } else {
    places.push_back(more);
  }
}

}  // namespace

UnindexedWords::Filter::Filter(std::int64_t block, const std::vector<std::uint64_t>& hashes)
    : block_(static_cast<std::uint64_t>(block)), cells_(hashes.size() * bits_per_word / bits_per_cell + 1) {
  for (const auto hash : hashes) {
    for (const auto bit : bits_of(hash)) cells_[bit / bits_per_cell] |= std::uint64_t{1} << (bit % bits_per_cell);
  }
}

bool UnindexedWords::Filter::may_have(std::uint64_t hash) const {
  return std::ranges::all_of(bits_of(hash), [this](std::size_t bit) {
    return (cells_[bit / bits_per_cell] >> (bit % bits_per_cell) & 1) == 1;
  });
}

std::array<std::size_t, 4> UnindexedWords::Filter::bits_of(std::uint64_t hash) const {
  const auto count = cells_.size() * bits_per_cell;
  const auto number = mixed(hash + block_);
  const auto step = static_cast<std::uint32_t>(number >> 32);
  auto place = static_cast<std::uint32_t>(number);
  std::array<std::size_t, 4> bits{};
  for (auto& bit : bits) {
    bit = (place * count) >> 32;
    AGW_DEBUG_ASSERT(bit < count);
    place += step;
  }
  return bits;
}

bool UnindexedWords::extend(Connection& connection) {
  const auto indexed = search_store::indexed(connection);
  const auto newest = search_store::newest_number(connection);
  const Tokenizer tokenizer(connection);
  std::size_t bytes = 0;
  for (int i = 0; i < blocks_per_batch && bytes < bytes_per_batch; ++i) {
    const auto block = next_block(indexed);
    // A block must be complete in the snapshot: later numbers may be in use by now.
    if (last_number(block) > newest) return false;
    std::vector<std::uint64_t> hashes;
    search_store::read(connection, {first_number(block), last_number(block)},
                       [&](std::int64_t, std::int64_t, std::string_view content) {
                         bytes += content.size();
                         tokenizer.for_each_word(content,
                                                 [&](std::string_view word) { hashes.push_back(hash_of(word)); });
                         return true;
                       });
    keep_different(hashes);
    const std::lock_guard lock(mutex_);
    if (block == first_block_ + std::ssize(filters_)) filters_.emplace_back(block, hashes);
  }
  return true;
}

std::int64_t UnindexedWords::next_block(std::int64_t indexed) {
  const std::lock_guard lock(mutex_);
  for (; !filters_.empty() && last_number(first_block_) <= indexed; ++first_block_) filters_.pop_front();
  if (filters_.empty()) first_block_ = (indexed + 1) / turns_per_block;
  // Up to the last filter, no turn that waits is without one.
  AGW_DEBUG_ASSERT(first_number(first_block_) <= indexed + 1);
  return first_block_ + std::ssize(filters_);
}

void UnindexedWords::clear() {
  const std::lock_guard lock(mutex_);
  filters_.clear();
}

std::vector<Numbers> UnindexedWords::places(const SearchQuery& query, std::int64_t after) const {
  std::vector<std::vector<std::uint64_t>> words;
  for (const auto& term : query.terms()) words.push_back(whole_words(term));
  const auto may_match = [&](const Filter& filter) {
    return query.may_match([&](std::size_t term) {
      return std::ranges::all_of(words[term], [&](std::uint64_t hash) { return filter.may_have(hash); });
    });
  };
  std::vector<Numbers> places;
  const std::lock_guard lock(mutex_);
  auto block = first_block_ + std::ssize(filters_);
  add(places, {std::max(after + 1, first_number(block)), std::numeric_limits<std::int64_t>::max()});
  while (block > first_block_ && last_number(block - 1) > after) {
    --block;
    if (may_match(filters_[static_cast<std::size_t>(block - first_block_)]))
      add(places, {std::max(after + 1, first_number(block)), last_number(block)});
  }
  add(places, {after + 1, first_number(first_block_) - 1});
  return places;
}

}  // namespace agw
