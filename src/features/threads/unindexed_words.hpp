#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "features/threads/search_query.hpp"
#include "features/threads/search_store.hpp"
#include "storage/connection.hpp"

namespace agw {

/// Filters over the turns that wait to be indexed, when there are many: a search then reads only the turns that may
/// contain its words. Each block of 64 turn numbers has a Bloom filter.
///
/// A filter never becomes invalid: a number is never reused, and the text of a turn never changes. Turns without a
/// filter are always read, so filters may lag.
///
/// All functions may be called on any thread.
class UnindexedWords {
public:
  /// Removes the filters of turns that are indexed by now. Adds filters for the next turns of this snapshot, for a few
  /// milliseconds at most. Returns whether more are left.
  bool extend(Connection& connection);
  void clear();

  /// Ranges of numbers above `after` whose turns may match, newest first.
  std::vector<search_store::Numbers> places(const SearchQuery& query, std::int64_t after) const;

private:
  /// The Bloom filter of one block: it reports each word of the block as possible, and few others.
  class Filter {
  public:
    Filter(std::int64_t block, const std::vector<std::uint64_t>& hashes);
    bool may_have(std::uint64_t hash) const;

  private:
    /// The bits of a word. They differ between blocks: otherwise a word that collides with common words would match in
    /// every block.
    std::array<std::size_t, 4> bits_of(std::uint64_t hash) const;

    std::uint64_t block_;
    std::vector<std::uint64_t> cells_;
  };

  std::int64_t next_block(std::int64_t indexed);

  mutable std::mutex mutex_;
  std::int64_t first_block_ = 0;
  std::deque<Filter> filters_;  ///< for `first_block_` and the following blocks
};

}  // namespace agw
