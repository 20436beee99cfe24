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
#include "storage/active_reads.hpp"
#include "storage/work_item.hpp"

namespace agw {

/// What one thread of a pool reads with.
struct ItemReader {
  /// Runs an item in one transaction, so that it sees one snapshot, and stores a failure in the item.
  std::function<void(WorkItem&)> read;
  /// Called when the thread has been idle for `idle_after`.
  std::function<void()> release_memory = [] {};
};

/// A reader of a database file, which records its reads in `reads`. Opens its connection at the first read.
ItemReader file_reader(std::string file, ActiveReads& reads);

/// A small pool of threads that read, each with its own reader and connection. Starts a thread when an item arrives and
/// none is idle, up to `limit` threads.
class ReaderPool {
public:
  /// `make_reader` runs on each thread.
  ReaderPool(Loop& loop, std::function<ItemReader()> make_reader, std::size_t limit);
  ~ReaderPool();
  ReaderPool(const ReaderPool&) = delete;
  ReaderPool& operator=(const ReaderPool&) = delete;

  /// Call it on the loop.
  void add(std::unique_ptr<WorkItem> item);

  /// Finishes queued items until `deadline`, rejects the rest and ends the threads.
  void close(std::chrono::steady_clock::time_point deadline);

private:
  /// Returns the reason why the first thread could not be started. If a later one cannot, the existing threads do its
  /// work.
  std::exception_ptr start_thread();
  void work();
  std::unique_ptr<WorkItem> take(const ItemReader& reader);

  ThreadChecker checker_;
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
