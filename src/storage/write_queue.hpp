#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "storage/database.hpp"
#include "storage/work_item.hpp"

namespace agw {

/// The writer's queue with two lanes. Requests go first. Background work runs while no request waits; under constant
/// load it gets at most a fifth of the writer's time, but waits no longer than a second. Each item's caller waits for
/// it, so the queue is never longer than the number of callers.
class WriteQueue : public std::enable_shared_from_this<WriteQueue> {
public:
  using Clock = std::chrono::steady_clock;
  struct Lengths {
    std::size_t requests = 0;
    std::size_t background = 0;
  };

  explicit WriteQueue(Loop& loop) : loop_(loop) {}

  /// On the loop. Wakes the writer at the end of the loop's turn, so that all items of one turn form one group; sooner
  /// if there are many, so that the loop and the writer work in parallel.
  void add(std::unique_ptr<WorkItem> item, Database::Lane lane);

  /// On the writer's thread, when it is done with its last group: waits for the next one, up to `limit` requests or one
  /// background item. Returns an empty group when the queue is closed.
  WorkItems take(std::size_t limit);

  /// From now on `take` does not wait: it returns what is queued until `deadline`, then nothing.
  void close(Clock::time_point deadline);
  /// The items that have waited longest, so many of each lane, to be rejected. On the writer's thread, or when it has
  /// ended.
  WorkItems take_oldest(Lengths lengths);

  Lengths lengths() const;
  std::size_t size() const { return lengths().requests + lengths().background; }

private:
  struct Waiting {
    std::unique_ptr<WorkItem> item;
    Clock::time_point since;
  };

  void wake();
  void end_background();
  bool is_background_overdue(Clock::time_point now) const;
  WorkItems take_requests(std::size_t limit);
  WorkItems take_background(Clock::time_point now);

  Loop& loop_;
  bool wake_is_posted_ = false;  ///< used on the loop only

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<WorkItem>> requests_;
  std::deque<Waiting> background_;
  std::optional<Clock::time_point> background_began_;  ///< of the job under way
  Clock::time_point background_rests_until_ = Clock::time_point::min();
  bool closing_ = false;
  Clock::time_point deadline_;
};

}  // namespace agw
