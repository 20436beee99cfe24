#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <string>

#include "io/worker_thread.hpp"
#include "storage/job.hpp"

namespace agw {

/// The small pool of threads that read, each with a connection of its own. A thread is started when a job comes and
/// none is free, up to `limit` of them.
class Readers {
public:
  Readers(Loop& loop, std::string file, std::size_t limit);
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  /// On the loop.
  void add(std::unique_ptr<Job> job);

  /// Lets queued jobs finish until `deadline`, refuses the rest, ends the threads.
  void close(std::chrono::steady_clock::time_point deadline);

private:
  /// Answers what kept the first one from starting. Where a later one cannot start, those that are there do its work.
  std::exception_ptr start_thread();
  void work();
  std::unique_ptr<Job> take();
  /// In one transaction, so that the job sees one state of the database. Opens the connection where there is none.
  void read(Job& job, std::optional<Connection>& connection) const;

  Loop& loop_;
  const std::string file_;
  const std::size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Job>> jobs_;
  std::size_t free_ = 0;  ///< threads that wait for a job
  bool closing_ = false;
  std::chrono::steady_clock::time_point deadline_;
  std::list<WorkerThread> threads_;
};

}  // namespace agw
