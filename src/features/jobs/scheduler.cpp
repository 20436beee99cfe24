// When jobs are due. This file knows times only; triggers.cpp turns due times into runs. docs/jobs.md has the rules.
//
// A *due time* is a time that the schedule of a job names, to the wall clock. A job is *armed* from a time on: the due
// times after it count. *Latest* (job_due_times.latest) is the last due time of a job that has a row, or the time since
// when its schedule counts.
//
// The invariant: each due time of a job has at most one row in job_runs (a unique index), and a due time that passes
// while the job is armed gets one: of a run, or with the reason why there was none. If more than 25 have passed at
// once, the latest 25 get rows, and the first of these says that there were earlier ones.
//
//   1. Wait for the alarm: the first due time in the queue, or the clock being set.
//   2. Look at the clock. If it shows an earlier time than before, it was set back: all jobs are queued again from now
//      on, and each `latest` that lies ahead is set back. Otherwise these due times would be waited for in vain.
//   3. Take the first job whose due time has passed, with all its times up to now, and queue it for its next one.
//   4. triggers.cpp: run the last of these times, and those before it that are at most ten seconds old. The others were
//      jumped over, by the clock or a host that slept, and are skipped.
//   5. The row of a run and the new `latest` are one transaction. If the due time has a row, nothing is started.
//
// A kill
//   - before 5: the next start arms the job from `latest`, so the time has been missed. Missed times are skipped, or
//     the last of them is run, as the job says (`missed`).
//   - after 5: the time has its row. The start ends it as interrupted, and does not run it again.

#include "features/jobs/scheduler.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"

namespace agw {

namespace {

/// After this many jobs, the loop gets a chance to do other work.
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

/// Called before a job is armed, so that the clock cannot later be set back unnoticed to before that time.
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

void Scheduler::start() { group_.spawn(run()); }

Task<> Scheduler::stop() {
  stopping_.request();
  co_await group_.join();
}

Task<> Scheduler::run() {
  const auto executor = co_await asio::this_coro::executor;
  while (co_await alarm_.wait(stopping_) == WaitResult::done) {
    int passed_on = 0;
    while (auto due = schedule_.take(read_clock())) {
      AGW_ASSERT(!due->times.empty() && !due->job_id.empty());
      on_due_(std::move(*due));
      if (++passed_on % max_due_in_a_row == 0) co_await asio::post(executor, asio::use_awaitable);
      if (stopping_.requested()) co_return;
    }
    alarm_.set(schedule_.next_due());
  }
}

}  // namespace agw
