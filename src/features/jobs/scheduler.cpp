#include "features/jobs/scheduler.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"

namespace agw {

namespace {

/// After this many jobs, the loop gets a chance to do other work.
constexpr int told_at_once = 100;

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
  look_at_clock();
}

/// Called before a job is armed, so that the clock cannot later be set back unnoticed to before that time.
Timestamp Scheduler::look_at_clock() {
  const auto now = clock_.now();
  if (schedule_.note(now)) on_set_back_(now);
  return now;
}

void Scheduler::arm(const std::string& job_id, const CronTrigger& trigger, Timestamp after) {
  auto timing = timing_of(trigger);
  if (!timing) return disarm(job_id);
  look_at_clock();
  schedule_.put(job_id, std::move(*timing), after);
  alarm_.set(schedule_.next_due());
}

void Scheduler::disarm(const std::string& job_id) {
  schedule_.remove(job_id);
  alarm_.set(schedule_.next_due());
}

void Scheduler::start() {
  if (const auto problem = TimeZone::host_problem(); !problem.empty()) log::warn("{}", problem);
  group_.spawn(keep());
}

Task<> Scheduler::stop() {
  stopping_.request();
  co_await group_.join();
}

Task<> Scheduler::keep() {
  const auto executor = co_await asio::this_coro::executor;
  while (co_await alarm_.wait(stopping_) == WaitResult::done) {
    int told = 0;
    while (auto due = schedule_.take(look_at_clock())) {
      on_due_(std::move(*due));
      if (++told % told_at_once == 0) co_await asio::post(executor, asio::use_awaitable);
      if (stopping_.requested()) co_return;
    }
    alarm_.set(schedule_.next_due());
  }
}

}  // namespace agw
