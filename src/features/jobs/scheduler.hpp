#pragma once

#include <functional>
#include <string>

#include "base/group.hpp"
#include "features/extensions/types.hpp"
#include "features/jobs/schedule.hpp"
#include "io/wall_clock_alarm.hpp"

namespace agw {

/// Tells when jobs are due, by the wall clock. However many there are, they cost nothing until the next is.
class Scheduler {
public:
  /// On the loop; must not block and must not throw.
  using OnDue = std::function<void(DueTimes)>;

  Scheduler(Loop& loop, const Clock& clock, OnDue on_due);

  /// From now on the job is due at its times after `after`. What does not read as a schedule is never due.
  void arm(const std::string& job_id, const CronTrigger& trigger, Timestamp after);
  void disarm(const std::string& job_id);

  void start();
  Task<> stop();

private:
  Task<> keep();

  const Clock& clock_;
  OnDue on_due_;
  Schedule schedule_;
  WallClockAlarm alarm_;
  Stop stopping_;
  Group group_;
};

/// Nothing where the trigger does not read as one.
std::optional<JobTiming> timing_of(const CronTrigger& trigger);

}  // namespace agw
