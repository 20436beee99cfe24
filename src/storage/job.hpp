#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>

#include "base/task.hpp"
#include "storage/connection.hpp"
#include "storage/row_insert.hpp"

namespace agw {

/// What one caller hands to a thread of the database, and later its answer. It belongs to one thread at a time.
class Job {
public:
  /// Runs on a thread of the database with its connection, more than once if its group is lost.
  using Work = std::function<void(Connection&)>;

  Job(Loop& loop, Work work) : loop_is_needed_(loop.get_executor()), work_(std::move(work)) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Does the work and keeps what it throws, in place of what an earlier run threw.
  void run(Connection& connection);
  void fail(std::exception_ptr failure) { failure_ = std::move(failure); }
  bool failed() const { return failure_ != nullptr; }
  /// Its work, where that is the insertion of a row.
  const RowInsert* row_insert() const { return work_.target<RowInsert>(); }

  /// Resumes the caller. On the loop's thread, once.
  virtual void answer() = 0;

protected:
  std::exception_ptr take_failure() { return std::exchange(failure_, nullptr); }

private:
  asio::executor_work_guard<Loop::executor_type> loop_is_needed_;
  Work work_;
  std::exception_ptr failure_;
};

using Jobs = std::vector<std::unique_ptr<Job>>;

/// Runs the first of the jobs, together with those behind it that insert a row in the same way. Gives how many those
/// are, or 0 where they failed.
std::size_t run_first(std::span<const std::unique_ptr<Job>> jobs, Connection& connection);

/// Has all of them answered, in order, by one handler of the loop. From any thread.
void answer(Loop& loop, Jobs jobs);

/// Answers it with an error: the database was closed before its turn came. From any thread.
void refuse(Loop& loop, std::unique_ptr<Job> job);

/// Answers it with what kept a thread from starting for it. To throw that instead would end the loop's `run`: whoever
/// is to wait for the job does not wait yet.
void refuse(Loop& loop, std::unique_ptr<Job> job, std::exception_ptr failure);

/// Makes a job of `work`, gives it to `queue` and waits until it is answered; throws what the job failed with. The wait
/// cannot be cancelled: a caller that was cancelled meanwhile still gets its result.
Task<> wait_for(Loop& loop, Job::Work work, std::function<void(std::unique_ptr<Job>)> queue);

}  // namespace agw
