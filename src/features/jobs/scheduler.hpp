#pragma once

#include <functional>
#include <string>

#include "base/async/task_group.hpp"
#include "features/extensions/types.hpp"
#include "features/jobs/schedule.hpp"
#include "io/process/wall_clock_alarm.hpp"

namespace agw {

/// Reports due jobs, by the wall clock. Waits only for the next due time, regardless of the number of jobs.
class Scheduler {
public:
  /// Called on the loop. Must not block or throw.
  using OnDue = std::function<void(DueTimes)>;

  /// Called when the clock was set back to `now`; due times count from that time on. Must not block or throw.
  using OnSetBack = std::function<void(Timestamp now)>;

  Scheduler(Loop& loop, const Clock& clock, OnDue on_due, OnSetBack on_set_back);

  /// Makes the job due at its times after `after`; never if its schedule is invalid.
  void arm(const std::string& job_id, const CronTrigger& trigger, Timestamp after);
  void disarm(const std::string& job_id);

  void start();
  Task<> stop();

private:
  Task<> run();
  Timestamp read_clock();

  const Clock& clock_;
  OnDue on_due_;
  OnSetBack on_set_back_;
  Schedule schedule_;
  WallClockAlarm alarm_;
  StopSource stopping_;
  TaskGroup group_;
};

/// No value if the trigger is not a valid schedule.
std::optional<JobTiming> timing_of(const CronTrigger& trigger);

}  // namespace agw
