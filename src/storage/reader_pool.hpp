#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <mutex>
#include <string>

#include "base/async/assert.hpp"
#include "io/process/worker_thread.hpp"
#include "storage/work_item.hpp"

namespace agw {

/// Runs an item in one transaction, so that it sees one state of the database, and keeps a failure in it.
using ItemReader = std::function<void(WorkItem&)>;

/// A reader of a database file. Opens its connection when it first reads.
ItemReader file_reader(std::string file);

/// A small pool of reading threads, each with its own reader and thus its own connection. Starts a thread when an item
/// arrives and none is idle, up to `limit` of them.
class ReaderPool {
public:
  /// `make_reader` runs on each thread.
  ReaderPool(Loop& loop, std::function<ItemReader()> make_reader, std::size_t limit);
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

  [[no_unique_address]] ThreadChecker checker_;
  Loop& loop_;
  const std::function<ItemReader()> make_reader_;
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
