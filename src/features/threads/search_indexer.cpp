// How the index of turns stays complete although it is written later than the turns. docs/design/search.md.
//
// The *mark* (search_progress.indexed) is the number of the last indexed turn. The *tail* is the turns above it.
//
// The invariant: the index contains all turns up to the mark and none above it. A search reads the mark, the index and
// the tail in one snapshot, and checks the turns of the tail one by one. So it finds a turn as soon as the turn is
// stored. While the tail is long, each step also extends filters of the words in it (unindexed_words.hpp), and a search
// reads only the turns that may contain its words.
//
// One step of the work is three writes in the background lane, each a transaction of a few milliseconds:
//   1. `index_some`: add the next turns, at most 100 or 128 KiB, and raise the mark in the same transaction.
//   2. `merge_some`: merge some pages of the index. FTS5's automatic merging is off, so that each write is short. The
//   other steps are skipped while the index has many segments.
//   3. `purge_some`: remove turns of deleted threads, from the index if they are up to the mark, then from the table.
//
// The steps repeat until none of the three finds work. Then the coroutine sleeps until `wake`, and another 100 ms to
// collect more turns. The index stores no texts, so removing an entry requires the text that was indexed. That is why
// the turns of a deleted thread stay until they are purged (table deleted_threads); searches leave them out.
//
// A kill between two writes leaves a valid state, because the mark moves with the index. The next process begins with a
// step.

#include "features/threads/search_indexer.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "features/threads/search_store.hpp"
#include "features/threads/unindexed_words.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

/// Turns that arrive within this time are indexed together: each piece costs a commit.
constexpr auto gathering = 100ms;
constexpr auto after_failure = 5s;
/// From this number of waiting turns on, a search reads them through filters, because reading all takes too long.
constexpr std::int64_t min_turns_for_filters = 4096;
/// Filters are extended much faster than the index, but on a slow machine not faster than an import adds turns. So each
/// step does a limited amount of both.
constexpr int filter_pieces_per_step = 8;
constexpr auto forever = std::chrono::hours{24 * 365};

}  // namespace

SearchIndexer::SearchIndexer(Loop& loop, Database& database)
    : database_(database), timer_(loop), unindexed_(std::make_shared<UnindexedWords>()), group_(loop) {}

void SearchIndexer::start() {
  // Two of them would wake only one.
  AGW_ASSERT(group_.size() == 0);
  group_.spawn(work());
}

Task<> SearchIndexer::stop() {
  group_.cancel();
  co_await group_.join();
}

void SearchIndexer::wake() {
  has_work_ = true;
  if (asleep_) timer_.cancel();
}

Task<> SearchIndexer::work() {
  while (!group_.closing()) {
    AGW_ASSERT(!asleep_);
    if (!has_work_) {
      asleep_ = true;
      co_await sleep_for(forever);
      asleep_ = false;
      co_await sleep_for(gathering);
    }
    has_work_ = false;
    bool failed = false;
    try {
      co_await catch_up();
    } catch (const DatabaseError& error) {
      log::warn("cannot bring the search index up to date, trying again: {}", error.what());
      failed = true;
    }
    if (failed) {
      has_work_ = true;
      co_await sleep_for(after_failure);
    }
  }
}

Task<> SearchIndexer::catch_up() {
  while (co_await step()) {
  }
}

Task<bool> SearchIndexer::step() {
  // Alternates between the writes, so that the index never stays unmerged for long.
  const auto waiting = co_await database_.write(search_store::index_some, Database::Lane::background);
  co_await update_filters(waiting);
  const bool merged = co_await database_.write(search_store::merge_some, Database::Lane::background);
  const bool purged = co_await database_.write(search_store::purge_some, Database::Lane::background);
  co_return waiting > 0 || merged || purged;
}

Task<> SearchIndexer::update_filters(std::int64_t waiting) {
  if (waiting < min_turns_for_filters) {
    unindexed_->clear();
    co_return;
  }
  bool more = true;
  for (int i = 0; i < filter_pieces_per_step && more && !group_.closing(); ++i) {
    more = co_await database_.read(
        [unindexed = unindexed_](Connection& connection) { return unindexed->extend(connection); });
  }
}

Task<> SearchIndexer::sleep_for(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace agw
