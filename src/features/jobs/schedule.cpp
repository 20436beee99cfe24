#include "features/jobs/schedule.hpp"

#include <algorithm>
#include <deque>
#include <functional>

#include "base/async/assert.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

/// The latest due times from `from` to `until`.
DueTimes times_between(const JobTiming& timing, Timestamp from, Timestamp until) {
  std::deque<Timestamp> kept;
  DueTimes found;
  for (auto time = timing.cron.next(from - 1ms, timing.zone); time && *time <= until;
       time = timing.cron.next(*time, timing.zone)) {
    kept.push_back(*time);
    if (kept.size() <= Schedule::max_times) continue;
    kept.pop_front();
    found.more = true;
  }
  found.times.assign(kept.begin(), kept.end());
  AGW_ASSERT(found.times.size() <= Schedule::max_times);
  AGW_ASSERT(!found.more || found.times.size() == Schedule::max_times);
  AGW_ASSERT(std::ranges::adjacent_find(found.times, std::greater_equal()) == found.times.end());
  return found;
}

}  // namespace

DueTimes latest_times(std::string job_id, const JobTiming& timing, Timestamp first, Timestamp now) {
  AGW_ASSERT(first <= now);
  // Searches growing intervals before `now`, because a job that runs every second may have been due a million times.
  DueTimes found;
  for (std::chrono::milliseconds stretch = 30s;; stretch *= 2) {
    const auto from = now - first > stretch ? now - stretch : first;
    found = times_between(timing, from, now);
    if (found.more || from == first) break;
  }
  AGW_ASSERT(found.times.empty() || found.times.front() >= first);
  AGW_ASSERT(found.times.empty() || found.times.back() <= now);
  found.job_id = std::move(job_id);
  return found;
}

std::vector<Timestamp> next_times(const JobTiming& timing, Timestamp after, std::size_t count) {
  std::vector<Timestamp> times;
  while (times.size() < count) {
    const auto next = timing.cron.next(after, timing.zone);
    if (!next) break;
    AGW_ASSERT(*next > after);
    times.push_back(*next);
    after = *next;
  }
  return times;
}

bool Schedule::observe_time(Timestamp now) {
  const bool was_set_back = latest_now_ && now < *latest_now_;
  if (was_set_back) start_over(now);
  latest_now_ = now;
  return was_set_back;
}

void Schedule::put(std::string job_id, JobTiming timing, Timestamp after) {
  remove(job_id);
  auto& entry = jobs_.emplace(job_id, Entry{std::move(timing), {}}).first->second;
  queue(job_id, entry, after);
}

void Schedule::remove(const std::string& job_id) {
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end()) return;
  unqueue(job_id, found->second);
  jobs_.erase(found);
}

std::optional<Timestamp> Schedule::next_due() const {
  return queue_.empty() ? std::nullopt : std::optional(queue_.begin()->first);
}

std::optional<DueTimes> Schedule::take(Timestamp now) {
  observe_time(now);
  if (queue_.empty() || queue_.begin()->first > now) return std::nullopt;
  const auto [due, job_id] = *queue_.begin();
  AGW_ASSERT(jobs_.contains(job_id));
  auto& entry = jobs_.at(job_id);
  AGW_ASSERT(entry.due == due);
  unqueue(job_id, entry);
  queue(job_id, entry, due);
  if (!entry.due || *entry.due > now) return DueTimes{job_id, {due}};
  unqueue(job_id, entry);
  queue(job_id, entry, now);
  return latest_times(job_id, entry.timing, due, now);
}

void Schedule::queue(const std::string& job_id, Entry& entry, Timestamp after) {
  entry.due = entry.timing.cron.next(after, entry.timing.zone);
  AGW_ASSERT(!entry.due || *entry.due > after);
  if (entry.due) queue_.emplace(*entry.due, job_id);
  AGW_ASSERT(queue_.size() <= jobs_.size());
}

void Schedule::unqueue(const std::string& job_id, const Entry& entry) {
  const auto removed = entry.due ? queue_.erase({*entry.due, job_id}) : 0;
  AGW_ASSERT(!entry.due || removed == 1);
}

void Schedule::start_over(Timestamp now) {
  queue_.clear();
  for (auto& [job_id, entry] : jobs_) queue(job_id, entry, now);
}

}  // namespace agw
