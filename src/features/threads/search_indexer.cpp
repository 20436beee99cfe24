#include "features/threads/search_indexer.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "features/threads/search_store.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

/// Turns that arrive within this time are indexed together: each piece costs a commit.
constexpr auto gathering = 100ms;
constexpr auto after_failure = 5s;
constexpr auto until_woken = std::chrono::hours{24 * 365};

}  // namespace

SearchIndexer::SearchIndexer(Loop& loop, Database& database) : database_(database), timer_(loop), group_(loop) {}

void SearchIndexer::start() { group_.spawn(work()); }

Task<> SearchIndexer::stop() {
  group_.cancel();
  co_await group_.join();
}

void SearchIndexer::wake() {
  behind_ = true;
  if (asleep_) timer_.cancel();
}

Task<> SearchIndexer::work() {
  while (!group_.closing()) {
    if (!behind_) {
      asleep_ = true;
      co_await rest(until_woken);
      asleep_ = false;
      co_await rest(gathering);
    }
    behind_ = false;
    bool failed = false;
    try {
      co_await catch_up();
    } catch (const DatabaseError& error) {
      log::warn("cannot bring the search index up to date, trying again: {}", error.what());
      failed = true;
    }
    if (failed) {
      behind_ = true;
      co_await rest(after_failure);
    }
  }
}

Task<> SearchIndexer::catch_up() {
  while (co_await step()) {
  }
}

Task<bool> SearchIndexer::step() {
  // In turn, so that the index never stays unmerged for long.
  const bool indexed = co_await database_.write(search_store::index_some, Database::Lane::background);
  const bool merged = co_await database_.write(search_store::merge_some, Database::Lane::background);
  const bool purged = co_await database_.write(search_store::purge_some, Database::Lane::background);
  co_return indexed || merged || purged;
}

Task<> SearchIndexer::rest(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
}

}  // namespace agw
