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

  /// The clock was set back, to that time: what is due counts from then on. As `OnDue`.
  using OnSetBack = std::function<void(Timestamp now)>;

  Scheduler(Loop& loop, const Clock& clock, OnDue on_due, OnSetBack on_set_back);

  /// From now on the job is due at its times after `after`. What does not read as a schedule is never due.
  void arm(const std::string& job_id, const CronTrigger& trigger, Timestamp after);
  void disarm(const std::string& job_id);

  void start();
  Task<> stop();

private:
  Task<> keep();
  Timestamp look_at_clock();

  const Clock& clock_;
  OnDue on_due_;
  OnSetBack on_set_back_;
  Schedule schedule_;
  WallClockAlarm alarm_;
  Stop stopping_;
  Group group_;
};

/// Nothing where the trigger does not read as one.
std::optional<JobTiming> timing_of(const CronTrigger& trigger);

}  // namespace agw
