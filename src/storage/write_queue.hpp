#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "storage/database.hpp"
#include "storage/work_item.hpp"

namespace agw {

/// The writer's queue with two lanes. Requests have priority. Background work runs while no request waits; under
/// constant load it gets at most a fifth of the writer's time but waits at most a second. Each item's caller waits for
/// it, so the number of callers bounds the queue.
class WriteQueue : public std::enable_shared_from_this<WriteQueue> {
public:
  using Clock = std::chrono::steady_clock;
  struct Lengths {
    std::size_t requests = 0;
    std::size_t background = 0;
  };

  explicit WriteQueue(Loop& loop) : loop_(loop) {}

  /// Call it on the loop. Wakes the writer at the end of the loop's turn, so that all items of one turn form one group;
  /// sooner if there are many, so that the loop and the writer work in parallel.
  void add(std::unique_ptr<WorkItem> item, Database::Lane lane);

  /// Called by the writer's thread after each group: waits for the next group of up to `limit` requests or one
  /// background item. Returns an empty group when the queue is closed. Calls `when_idle` if nothing arrives for
  /// `idle_after`.
  WorkItems take(std::size_t limit, const std::function<void()>& when_idle = [] {});

  /// Makes `take` return without waiting: queued items until `deadline`, then an empty group.
  void close(Clock::time_point deadline);
  /// Removes and returns the oldest items, as many of each lane as `lengths` states, for rejection. Call it on the
  /// writer's thread, or after that has ended.
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
  std::optional<Clock::time_point> background_began_;  ///< of the current background item
  Clock::time_point background_rests_until_ = Clock::time_point::min();
  bool closing_ = false;
  Clock::time_point deadline_;
};

}  // namespace agw
