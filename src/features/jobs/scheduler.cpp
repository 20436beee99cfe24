// Finds out when jobs are due. This file deals only with times; triggers.cpp turns due times into runs. docs/jobs.md
// has the rules.
//
// A *due time* is a time at which the schedule of a job fires, by the wall clock. A job is *armed* from a certain time
// on: its due times after it count. *Latest* (job_due_times.latest) is the last due time of a job that has a row, or
// the time from which its schedule counts.
//
// The invariant: each due time of a job has at most one row in job_runs (a unique index). A due time that passes while
// the job is armed gets one: that of a run, or one with the reason why there was none. If more than 25 have passed at
// once, the latest 25 get rows, and the first of these reports that there were earlier ones.
//
//   1. Wait for the alarm: the first due time in the queue, or a change of the clock.
//   2. Read the clock. If the time is earlier than before, the clock was set back: queue all jobs again from now on,
//   and
//      set back each `latest` that is in the future. Otherwise those jobs would not run until the clock has caught up.
//   3. Take the first job whose due time has passed, with all its times up to now, and queue it for its next one.
//   4. triggers.cpp: run the last of these times, and earlier ones that are at most ten seconds old. Skip the others,
//      which passed while the clock jumped or the host slept.
//   5. Write the row of the run and the new `latest` in one transaction. If the due time has a row, start nothing.
//
// After a kill
//   - before 5: the next start arms the job from `latest`, so the time counts as missed. Depending on the job
//   (`missed`),
//     missed times are skipped, or the last of them is run.
//   - after 5: the due time has its row. The next start ends the run as interrupted, and does not repeat it.

#include "features/jobs/scheduler.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"

namespace agw {

namespace {

/// After handling this many due jobs, yields to other work of the loop.
constexpr int max_due_in_a_row = 100;

}  // namespace

std::optional<JobTiming> timing_of(const CronTrigger& trigger) {
  const auto zone = trigger.timezone ? TimeZone::named(*trigger.timezone) : std::optional(TimeZone::host());
  if (!zone) return std::nullopt;
  try {
    return JobTiming{Cron(trigger.expression), *zone};
  } catch (const CronError&) {
    return std::nullopt;
  }
}

Scheduler::Scheduler(Loop& loop, const Clock& clock, OnDue on_due, OnSetBack on_set_back)
    : clock_(clock), on_due_(std::move(on_due)), on_set_back_(std::move(on_set_back)), alarm_(loop), group_(loop) {
  read_clock();
}

/// Also called before a job is armed: otherwise setting the clock back to before that time would go unnoticed.
Timestamp Scheduler::read_clock() {
  const auto now = clock_.now();
  if (schedule_.observe_time(now)) on_set_back_(now);
  return now;
}

void Scheduler::arm(const std::string& job_id, const CronTrigger& trigger, Timestamp after) {
  auto timing = timing_of(trigger);
  if (!timing) return disarm(job_id);
  read_clock();
  schedule_.put(job_id, std::move(*timing), after);
  alarm_.set(schedule_.next_due());
}

void Scheduler::disarm(const std::string& job_id) {
  schedule_.remove(job_id);
  alarm_.set(schedule_.next_due());
}

void Scheduler::start() {
  AGW_ASSERT(group_.size() == 0);
  group_.spawn(run());
}

Task<> Scheduler::stop() {
  stopping_.request();
  co_await group_.join();
}

Task<> Scheduler::run() {
  const auto executor = co_await asio::this_coro::executor;
  while (co_await alarm_.wait(stopping_) == WaitResult::done) {
    int passed_on = 0;
    while (auto due = schedule_.take(read_clock())) {
      AGW_ASSERT(!due->times.empty());
      AGW_ASSERT(!due->job_id.empty());
      on_due_(std::move(*due));
      if (++passed_on % max_due_in_a_row == 0) co_await asio::post(executor, asio::use_awaitable);
      if (stopping_.requested()) co_return;
    }
    alarm_.set(schedule_.next_due());
  }
}

}  // namespace agw
