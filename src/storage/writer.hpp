#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "io/worker_thread.hpp"
#include "storage/checkpointer.hpp"
#include "storage/write_queue.hpp"

namespace agw {

/// The one thread that writes: takes a group of jobs, commits once, answers all at once. Where one of them fails, all
/// are run again, each in a savepoint. The thread starts with the first job. Everything but the thread itself happens
/// on the loop's thread.
class Writer {
public:
  Writer(Loop& loop, std::unique_ptr<Connection> connection, std::string file, std::size_t group_limit);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void add(std::unique_ptr<Job> job, Database::Lane lane);

  /// The writer's own connection, for whoever is alone with it: before the first job. Throws std::logic_error after it.
  Connection& start_connection();

  /// Lets queued jobs finish until `deadline`, refuses the rest, ends the threads. With time left, the log is written
  /// back into the file; without, the next start does it.
  void close(WriteQueue::Clock::time_point deadline);

  std::uint64_t commits() const { return commits_; }
  std::uint64_t writes() const { return writes_; }
  std::size_t queued() const { return queue_->size(); }

private:
  void work();
  void run_group(const Jobs& jobs);
  /// What a job that fails takes with it.
  enum class Failing { undoes_group, undoes_job };
  bool run_together(const Jobs& jobs, Failing failing);
  bool run_bare(std::span<const std::unique_ptr<Job>> jobs);
  bool run_in_savepoint(Job& job);
  void run_alone(Job& job);
  void commit();
  void roll_back();
  void keep_log_short();

  Loop& loop_;
  const std::size_t group_limit_;
  std::unique_ptr<Connection> connection_;
  Checkpointer checkpointer_;
  std::shared_ptr<WriteQueue> queue_;
  bool has_begun_ = false;  ///< a job was added: the connection is the thread's
  int log_pages_ = 0;
  int checkpoint_at_;
  bool is_mostly_copied_ = false;  ///< the checkpointer has been through it since it became long
  std::atomic<std::uint64_t> commits_ = 0;
  std::atomic<std::uint64_t> writes_ = 0;
  std::optional<WorkerThread> thread_;
};

}  // namespace agw
