#include "storage/write_queue.hpp"

#include <algorithm>
#include <iterator>

#include <boost/asio/post.hpp>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr int rest_per_work = 4;
static_assert(1 + rest_per_work >= 5);  // background work gets at most a fifth
/// The loop reads a whole batch of requests before the writer wakes, so that groups are large. From this number on,
/// both work in parallel.
constexpr std::size_t early_wakeup_size = 24;
constexpr std::chrono::seconds background_patience{1};

}  // namespace

void WriteQueue::add(std::unique_ptr<WorkItem> item, Database::Lane lane) {
  AGW_ASSERT(item);
  bool is_enough = false;
  {
    const std::lock_guard lock(mutex_);
    // The writer's thread may have ended, and nobody would take the item.
    AGW_ASSERT(!closing_);
    if (lane == Database::Lane::request) {
      requests_.push_back(std::move(item));
      is_enough = requests_.size() == early_wakeup_size;
    } else {
      background_.push_back({std::move(item), Clock::now()});
    }
  }
  if (is_enough) changed_.notify_one();
  if (std::exchange(wake_is_posted_, true)) return;
  asio::post(loop_, [self = shared_from_this()] { self->wake(); });
}

void WriteQueue::wake() {
  AGW_ASSERT(wake_is_posted_);
  wake_is_posted_ = false;
  changed_.notify_one();
}

WorkItems WriteQueue::take(std::size_t limit, const std::function<void()>& when_idle) {
  AGW_DEBUG_ASSERT(may_block());
  AGW_ASSERT(limit > 0);

  std::unique_lock lock(mutex_);
  end_background();
  while (true) {
    const auto now = Clock::now();
    if (closing_ && now >= deadline_) return {};
    const bool rested = closing_ || now >= background_rests_until_;
    const bool background_first = rested && is_background_overdue(now);
    if (!requests_.empty() && !background_first) return take_requests(limit);
    if (!background_.empty() && rested) return take_background(now);
    if (closing_) return {};
    if (background_.empty()) {
      wait_for_work(changed_, lock, when_idle,
                    [this] { return closing_ || !requests_.empty() || !background_.empty(); });
    } else {
      AGW_ASSERT(requests_.empty());
      AGW_ASSERT(!rested);
      changed_.wait_until(lock, background_rests_until_);
    }
  }
}

void WriteQueue::end_background() {
  if (!background_began_) return;
  const auto now = Clock::now();
  // Work that waited for an unreachable server took minutes: the pause must not be four times as long.
  const auto rest = std::min<Clock::duration>(rest_per_work * (now - *background_began_), background_patience);
  if (!requests_.empty()) background_rests_until_ = now + rest;
  background_began_.reset();
}

bool WriteQueue::is_background_overdue(Clock::time_point now) const {
  return !background_.empty() && now - background_.front().since > background_patience;
}

WorkItems WriteQueue::take_requests(std::size_t limit) {
  const auto count = std::min(limit, requests_.size());
  const auto end = requests_.begin() + static_cast<std::ptrdiff_t>(count);
  WorkItems items(std::make_move_iterator(requests_.begin()), std::make_move_iterator(end));
  requests_.erase(requests_.begin(), end);
  AGW_ASSERT(items.size() == count);
  AGW_DEBUG_ASSERT(std::ranges::none_of(items, [](const auto& item) { return item == nullptr; }));
  return items;
}

WorkItems WriteQueue::take_background(Clock::time_point now) {
  AGW_ASSERT(!background_.empty());
  AGW_ASSERT(!background_began_);
  WorkItems items;
  items.push_back(std::move(background_.front().item));
  background_.pop_front();
  background_began_ = now;
  AGW_ASSERT(items.front());
  return items;
}

void WriteQueue::close(Clock::time_point deadline) {
  {
    const std::lock_guard lock(mutex_);
    AGW_ASSERT(!closing_);
    closing_ = true;
    deadline_ = deadline;
  }
  changed_.notify_one();
}

WorkItems WriteQueue::take_oldest(Lengths lengths) {
  const std::lock_guard lock(mutex_);
  AGW_ASSERT(lengths.requests <= requests_.size());
  AGW_ASSERT(lengths.background <= background_.size());
  const auto wanted = lengths.requests + lengths.background;
  auto items = take_requests(lengths.requests);
  for (; lengths.background > 0; --lengths.background) {
    items.push_back(std::move(background_.front().item));
    background_.pop_front();
  }
  AGW_ASSERT(items.size() == wanted);
  return items;
}

WriteQueue::Lengths WriteQueue::lengths() const {
  const std::lock_guard lock(mutex_);
  return {requests_.size(), background_.size()};
}

}  // namespace agw
