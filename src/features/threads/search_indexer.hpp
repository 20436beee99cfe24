#pragma once

#include <cstdint>
#include <memory>

#include <boost/asio/steady_timer.hpp>

#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "storage/database.hpp"

namespace agw {

class UnindexedWords;

/// Background work on turns: adds new ones to the search index, keeps the index merged, and removes the turns of
/// deleted threads. It works in short pieces, so requests come first.
class SearchIndexer {
public:
  SearchIndexer(Loop& loop, Database& database);

  void start();
  Task<> stop();

  /// Must be called after turns were added or removed, or a thread was deleted.
  void wake();

  /// Does all pending work before it returns.
  Task<> catch_up();

  /// Filters that speed up searching the turns that are not indexed yet.
  std::shared_ptr<const UnindexedWords> unindexed() const { return unindexed_; }

private:
  Task<> work();
  /// Returns whether there was anything to do.
  Task<bool> step();
  Task<> update_filters(std::int64_t waiting);
  Task<> sleep_for(std::chrono::milliseconds time);

  Database& database_;
  asio::steady_timer timer_;
  bool has_work_ = true;  ///< true at the start: the previous process may have left work
  bool asleep_ = false;
  std::shared_ptr<UnindexedWords> unindexed_;  ///< shared with searches on readers' threads
  TaskGroup group_;
};

}  // namespace agw
