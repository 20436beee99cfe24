#pragma once

#include <boost/asio/steady_timer.hpp>

#include "base/group.hpp"
#include "base/task.hpp"
#include "storage/database.hpp"

namespace agw {

/// What works behind the turns: puts new ones into the search index, keeps the index merged, and removes the turns of
/// deleted threads; all in short pieces that give way to requests.
class SearchIndexer {
public:
  SearchIndexer(Loop& loop, Database& database);

  void start();
  Task<> stop();

  /// There is something to do: turns were added or removed, a thread was deleted.
  void wake();

  /// Does what there is to do now, in the caller's own time.
  Task<> catch_up();

private:
  Task<> work();
  /// Whether there was anything to do.
  Task<bool> step();
  Task<> rest(std::chrono::milliseconds time);

  Database& database_;
  asio::steady_timer timer_;
  bool behind_ = true;  ///< a start finds what the last process left
  bool asleep_ = false;
  Group group_;
};

}  // namespace agw
