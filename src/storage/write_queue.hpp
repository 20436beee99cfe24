#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "storage/database.hpp"
#include "storage/job.hpp"

namespace agw {

/// What waits for the writer, in two lanes. Requests go first. Background work has the writer while no request waits;
/// as long as requests come, it has at most a fifth of the writer's time, but is not put off for more than a second.
/// Each job's caller waits for it, so the queue is never longer than there are callers.
class WriteQueue : public std::enable_shared_from_this<WriteQueue> {
public:
  using Clock = std::chrono::steady_clock;

  explicit WriteQueue(Loop& loop) : loop_(loop) {}

  /// On the loop. The writer is woken at the end of the loop's turn, so that all who came in one turn are one group;
  /// sooner where they are many, so that the loop and the writer work side by side.
  void add(std::unique_ptr<Job> job, Database::Lane lane);

  /// On the writer's thread, when it has done what it took before: waits for one group, which is up to `limit` requests
  /// or one background job. Empty: it is over.
  Jobs take(std::size_t limit);

  /// From now on `take` does not wait: it gives what is queued until `deadline`, then nothing.
  void close(Clock::time_point deadline);
  /// What was never taken, once the writer has ended.
  Jobs take_rest();

  std::size_t size() const;

private:
  struct Waiting {
    std::unique_ptr<Job> job;
    Clock::time_point since;
  };

  void wake();
  void end_background();
  bool is_background_overdue(Clock::time_point now) const;
  Jobs take_requests(std::size_t limit);
  Jobs take_background(Clock::time_point now);

  Loop& loop_;
  bool wake_is_posted_ = false;  ///< used on the loop only

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Job>> requests_;
  std::deque<Waiting> background_;
  std::optional<Clock::time_point> background_began_;  ///< of the job under way
  Clock::time_point background_rests_until_ = Clock::time_point::min();
  bool closing_ = false;
  Clock::time_point deadline_;
};

}  // namespace agw
