#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "base/async/assert.hpp"
#include "io/process/worker_thread.hpp"
#include "storage/work_item.hpp"

namespace agw {

/// A small pool of reading threads, each with a connection of its own. Starts a thread when an item arrives and none is
/// idle, up to `limit` of them.
class ReaderPool {
public:
  ReaderPool(Loop& loop, std::string file, std::size_t limit);
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  /// On the loop.
  void add(std::unique_ptr<WorkItem> item);

  /// Finishes queued items until `deadline`, rejects the rest and ends the threads.
  void close(std::chrono::steady_clock::time_point deadline);

private:
  /// Returns why the first thread could not start. If a later one cannot, the existing ones do its work.
  std::exception_ptr start_thread();
  void work();
  std::unique_ptr<WorkItem> take();
  /// Runs the item in one transaction, so that it sees one state of the database. Opens the connection if needed.
  void read(WorkItem& item, std::optional<Connection>& connection) const;

  [[no_unique_address]] ThreadChecker checker_;
  Loop& loop_;
  const std::string file_;
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<WorkItem>> items_;
  std::size_t free_ = 0;  ///< idle threads
  bool closing_ = false;
  std::chrono::steady_clock::time_point deadline_;
  std::list<WorkerThread> threads_;
};

}  // namespace agw
