#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/cron.hpp"
#include "base/time.hpp"
#include "base/time_zone.hpp"

namespace agw {

/// What the times of a job follow from.
struct JobTiming {
  Cron cron;
  TimeZone zone;
};

/// The due times of a job that have come since it was looked at last: one as a rule, more where the clock jumped, the
/// host slept, or the gateway was down.
struct DueTimes {
  std::string job_id;
  std::vector<Timestamp> times;  ///< ascending; where there were too many, the latest
  bool more = false;             ///< there were earlier ones
};

/// When each job is due next: one queue in order of time. It knows no clock; every time is handed in. A `now` before
/// that of an earlier call means that the clock was set back: then all are due at their first times after it, also at
/// times that were taken before.
class Schedule {
public:
  /// So many due times are told one by one.
  static constexpr std::size_t most_times = 25;

  /// Tells the time. Whether the clock was set back.
  bool note(Timestamp now);

  /// The job is due at its times after `after`; replaces what it had.
  void put(std::string job_id, JobTiming timing, Timestamp after);
  void remove(const std::string& job_id);

  /// When the first of all is due.
  std::optional<Timestamp> next_due() const;

  /// What has come by `now` for the job that is due first; nothing where none is. The job is due again at its first
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

/// The times of a job in `first` to `now`, of which `first` is one: the latest of them.
DueTimes latest_times(std::string job_id, const JobTiming& timing, Timestamp first, Timestamp now);

/// The next `count` times after `after`; fewer where there are no more.
std::vector<Timestamp> next_times(const JobTiming& timing, Timestamp after, std::size_t count);

}  // namespace agw
