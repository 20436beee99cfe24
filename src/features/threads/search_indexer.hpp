#pragma once

#include <boost/asio/steady_timer.hpp>

#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "storage/database.hpp"

namespace agw {

/// Background work on turns: adds new ones to the search index, keeps the index merged, and removes the turns of
/// deleted threads. It works in short pieces, so requests come first.
class SearchIndexer {
public:
  SearchIndexer(Loop& loop, Database& database);

  void start();
  Task<> stop();

  /// Call it when there is work: turns were added or removed, or a thread was deleted.
  void wake();

  /// Does all work that there is now, before it returns.
  Task<> catch_up();

private:
  Task<> work();
  /// Whether there was anything to do.
  Task<bool> step();
  Task<> rest(std::chrono::milliseconds time);

  Database& database_;
  asio::steady_timer timer_;
  bool has_work_ = true;  ///< there may be work; true at the start, because the last process may have left some
  bool asleep_ = false;
  TaskGroup group_;
};

}  // namespace agw
