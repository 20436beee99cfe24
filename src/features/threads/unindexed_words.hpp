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

/// Which words may occur in the turns that wait to be indexed, when they are many: a search then reads only those where
/// its words may be. Each block of 64 turn numbers has a Bloom filter.
///
/// A filter never becomes wrong: a number is never used for another turn, and the text of a turn never changes. Numbers
/// without a filter are read, so it does not matter how far the filters have got.
///
/// All functions may be called on any thread.
class UnindexedWords {
public:
  /// Removes the filters of turns that are indexed now, and adds those of the next turns of this snapshot, as many as
  /// take a few milliseconds. Returns whether more are left.
  bool extend(Connection& connection);
  void clear();

  /// The numbers above `after` of turns that may match, newest first.
  std::vector<search_store::Numbers> places(const SearchQuery& query, std::int64_t after) const;

private:
  /// Says of each word of a block that it may occur, and of few others.
  class Filter {
  public:
    Filter(std::int64_t block, const std::vector<std::uint64_t>& hashes);
    bool may_have(std::uint64_t hash) const;

  private:
    /// The bits that stand for a word. They differ from block to block: otherwise a word whose bits are those of common
    /// words would seem to be in every block.
    std::array<std::size_t, 4> bits_of(std::uint64_t hash) const;

    std::uint64_t block_;
    std::vector<std::uint64_t> cells_;
  };

  std::int64_t next_block(std::int64_t indexed);

  mutable std::mutex mutex_;
  std::int64_t first_block_ = 0;
  std::deque<Filter> filters_;  ///< of `first_block_` and those after it
};

}  // namespace agw
