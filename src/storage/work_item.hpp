#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>

#include "base/async/task.hpp"
#include "storage/connection.hpp"
#include "storage/work.hpp"

namespace agw {

/// One caller's work for a database thread, and later its completion. Used by one thread at a time.
class WorkItem {
public:
  WorkItem(Loop& loop, DatabaseWork work) : work_guard_(loop.get_executor()), work_(std::move(work)) {}
  virtual ~WorkItem() = default;
  WorkItem(const WorkItem&) = delete;
  WorkItem& operator=(const WorkItem&) = delete;

  /// Runs the work and stores its exception, replacing that of an earlier run.
  void run(Connection& connection);
  void fail(std::exception_ptr failure);
  bool failed() const { return failure_ != nullptr; }
  /// Calls `AnnouncedWrite::committed`, if the work is one and did not fail. Call it after the commit.
  void announce() const;
  /// The row to insert, if the work is nothing else.
  const RowInsert* row_insert() const { return std::get_if<RowInsert>(&work_); }

  /// Resumes the caller. Call it once, on the loop.
  virtual void complete() = 0;

protected:
  std::exception_ptr take_failure() { return std::exchange(failure_, nullptr); }

private:
  asio::executor_work_guard<Loop::executor_type> work_guard_;
  DatabaseWork work_;
  std::exception_ptr failure_;
};

using WorkItems = std::vector<std::unique_ptr<WorkItem>>;

/// Runs the first item together with the items directly after it that insert a row through the same function. Returns
/// their number, or 0 if they failed.
std::size_t run_batch(std::span<const std::unique_ptr<WorkItem>> items, Connection& connection);

/// Completes all items, in order, in one handler on the loop. Thread-safe.
void complete(Loop& loop, WorkItems items);

/// Completes the item with an error, because the database was closed before its turn. Thread-safe.
void reject(Loop& loop, std::unique_ptr<WorkItem> item);

/// Completes the item with the reason why its thread could not be started. An exception instead would end the loop's
/// `run`, because the caller is not waiting yet.
void reject(Loop& loop, std::unique_ptr<WorkItem> item, std::exception_ptr failure);

/// When a database thread without work is idle.
inline constexpr std::chrono::seconds idle_after{1};

/// Waits on a database thread until `is_ready`. Calls `when_idle` once, without the lock, if that takes longer than
/// `idle_after`.
template <class Predicate>
void wait_for_work(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                   const std::function<void()>& when_idle, Predicate is_ready) {
  if (changed.wait_for(lock, idle_after, is_ready)) return;
  lock.unlock();
  when_idle();
  lock.lock();
  changed.wait(lock, is_ready);
}

/// Passes an item with `work` to `queue` and waits for its completion; throws the item's failure. The wait cannot be
/// cancelled: a cancelled caller still gets its result.
Task<> wait_for(Loop& loop, DatabaseWork work, std::function<void(std::unique_ptr<WorkItem>)> queue);

}  // namespace agw
