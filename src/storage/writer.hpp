#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "base/async/assert.hpp"
#include "io/process/worker_thread.hpp"
#include "storage/active_reads.hpp"
#include "storage/checkpointer.hpp"
#include "storage/write_queue.hpp"

namespace agw {

/// The only writing thread: takes a group of items, commits once and completes all of them. If one fails, all run
/// again, each in a savepoint. The thread only runs groups; everything else happens on the loop.
class Writer {
public:
  /// Waits for `reads` at times, so that the log can be restarted.
  Writer(Loop& loop, std::unique_ptr<Connection> connection, std::string file, std::size_t group_limit,
         const ActiveReads& reads);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(std::unique_ptr<WorkItem> item, Database::Lane lane);

  /// The writer's connection, for exclusive use before the first item. Throws InternalError afterwards.
  Connection& start_connection();

  /// Finishes queued items until `deadline`, rejects the rest and ends the threads. Checkpoints the log if time
  /// remains; otherwise the next start does.
  void close(WriteQueue::Clock::time_point deadline);

  std::uint64_t commits() const { return commits_; }
  std::uint64_t writes() const { return writes_; }
  std::size_t queued() const { return queue_->size(); }

private:
  void work();
  void run_group(const WorkItems& items);
  /// What to roll back when an item fails.
  enum class OnFailure { roll_back_group, roll_back_item };
  bool run_together(const WorkItems& items, OnFailure failing);
  bool run_without_savepoints(std::span<const std::unique_ptr<WorkItem>> items);
  bool run_in_savepoint(WorkItem& item);
  void run_alone(WorkItem& item);
  void commit();
  void roll_back();
  void limit_log_size();

  ThreadChecker checker_;
  Loop& loop_;
  const std::size_t group_limit_;
  const ActiveReads& reads_;
  std::unique_ptr<Connection> connection_;
  Checkpointer checkpointer_;
  std::shared_ptr<WriteQueue> queue_;
  bool has_begun_ = false;  ///< an item was added, so the connection belongs to the thread
  int log_pages_ = 0;
  int checkpoint_at_;
  bool is_mostly_copied_ = false;  ///< the checkpointer has run since the log became long
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> writes_ = 0;
  std::optional<WorkerThread> thread_;
};

}  // namespace agw
