#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/cron.hpp"
#include "base/time/time.hpp"
#include "base/time/time_zone.hpp"

namespace agw {

/// The rule for the due times of a job.
struct JobTiming {
  Cron cron;
  TimeZone zone;
};

/// The due times of a job since the last check: usually one, more if the clock jumped, the host slept, or the gateway
/// was down.
struct DueTimes {
  std::string job_id;
  std::vector<Timestamp> times;  ///< ascending; at most the latest `Schedule::max_times`
  bool more = false;             ///< there were earlier ones, which are missing in `times`
};

/// A queue of jobs, ordered by their next due times. It has no clock; the caller passes the time. A `now` before that
/// of an earlier call means that the clock was set back: all jobs are then due at their first times after it, even at
/// times that were already taken.
/// Example: src/features/jobs/schedule_test.cpp: Schedule.ReportsEachJobWhenItIsDueAndQueuesItAgain
class Schedule {
public:
  /// The maximum number of due times in one DueTimes.
  static constexpr std::size_t max_times = 25;

  /// Sets the current time. Returns whether the clock was set back.
  bool observe_time(Timestamp now);

  /// Queues the job for its first time after `after`. Replaces an earlier entry of the job.
  void put(std::string job_id, JobTiming timing, Timestamp after);
  void remove(const std::string& job_id);

  /// When the next job is due.
  std::optional<Timestamp> next_due() const;

  /// The due times up to `now` of the job that is due first; no value if no job is due. Queues the job for its first
  /// time after `now`.
  std::optional<DueTimes> take(Timestamp now);

  std::size_t size() const { return jobs_.size(); }

private:
  struct Entry {
    JobTiming timing;
    std::optional<Timestamp> due;
  };

  void queue(const std::string& job_id, Entry& entry, Timestamp after);
  void unqueue(const std::string& job_id, const Entry& entry);
  void start_over(Timestamp now);

  std::unordered_map<std::string, Entry> jobs_;
  std::set<std::pair<Timestamp, std::string>> queue_;
  std::optional<Timestamp> latest_now_;
};

/// The latest due times of a job from `first`, itself a due time, to `now`.
DueTimes latest_times(std::string job_id, const JobTiming& timing, Timestamp first, Timestamp now);

/// The next `count` times after `after`; fewer if there are no more.
std::vector<Timestamp> next_times(const JobTiming& timing, Timestamp after, std::size_t count);

}  // namespace agw
