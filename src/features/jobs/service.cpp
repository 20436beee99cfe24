#include "features/jobs/service.hpp"

#include <algorithm>

#include "api/refusals.hpp"
#include "base/log.hpp"
#include "base/message_of.hpp"
#include "base/requested.hpp"
#include "features/jobs/store.hpp"
#include "storage/start_write.hpp"

namespace agw {

namespace {

constexpr std::size_t shown_due_times = 5;
constexpr int shown_runs = 20;

std::optional<double> success_rate(const std::vector<JobRun>& runs) {
  const auto completed = std::ranges::count(runs, JobRunStatus::completed, &JobRun::status);
  const auto failed = std::ranges::count(runs, JobRunStatus::failed, &JobRun::status);
  if (completed + failed == 0) return std::nullopt;
  return static_cast<double>(completed) / static_cast<double>(completed + failed);
}

void add_trigger(JobSummary& summary, const Trigger& trigger, Timestamp now) {
  if (const auto* cron = std::get_if<CronTrigger>(&trigger)) {
    summary.trigger = JobRunTrigger::cron;
    summary.schedule = cron->expression;
    summary.timezone = cron->timezone;
    const auto timing = timing_of(*cron);
    if (summary.enabled && timing) summary.next_due = next_times(*timing, now, shown_due_times);
  } else if (const auto* event = std::get_if<EventTrigger>(&trigger)) {
    summary.trigger = JobRunTrigger::event;
    summary.event = event->event;
  } else {
    summary.trigger = JobRunTrigger::webhook;
  }
}

JobSummary summary(Connection& connection, const Extension& job, Timestamp now) {
  JobSummary summary{.id = job.id, .name = job.name, .description = job.description, .enabled = job.enabled};
  if (const auto trigger = trigger_of(job)) add_trigger(summary, *trigger, now);
  auto runs = job_store::list(connection, job.id, shown_runs);
  summary.success_rate = success_rate(runs);
  if (!runs.empty()) {
    summary.last_run = runs.front();
    summary.last_run->job = job.name;
  }
  for (const auto& run : runs) summary.recent_runs.push_back({run.status, run.duration_ms});
  return summary;
}

}  // namespace

Jobs::Jobs(Loop& loop, Database& database, Hub& hub, const Clock& clock, Signals& signals, Extensions& extensions,
           Threads& threads, Runs& runs, Engine& engine, Models& models, Options options)
    : loop_(loop),
      database_(database),
      hub_(hub),
      clock_(clock),
      signals_(signals),
      extensions_(extensions),
      threads_(threads),
      runs_(runs),
      engine_(engine),
      models_(models),
      options_(std::move(options)),
      up_since_(clock.now()),
      job_threads_(loop, database, threads),
      scheduler_(
          loop, clock, [this](const DueTimes& due) { on_due(due); }, [this](Timestamp now) { on_set_back(now); }),
      events_(hub, [this](const std::string& job_id, std::string_view event, const json::object& record,
                          const EventCause& cause) { on_event(job_id, event, record, cause); }),
      work_(loop) {
  work_.on_failure(
      [](const std::exception_ptr& failure) { log::error("background work of jobs failed: {}", message_of(failure)); });
  extensions_.observe(*this);
}

void Jobs::load(Connection& connection, const std::vector<InterruptedRun>& left) {
  int interrupted = 0;
  write_at_start(connection, "ending the job runs that were interrupted", [&] {
    for (const auto& run : left) job_store::note_spent(connection, run.run.id, run.progress);
    interrupted = job_store::end_interrupted(connection, clock_.now());
  });
  if (interrupted > 0) log::warn("{} job runs were interrupted when the gateway was killed", interrupted);
}

void Jobs::start(std::function<Task<>()> once_armed) {
  work_.spawn(arm_all(std::move(once_armed)));
  work_.spawn(purge_old());
}

Task<> Jobs::disarm() {
  stopping_.request();
  co_await scheduler_.stop();
}

Task<> Jobs::stop() {
  stopped_ = true;
  for (const auto& run : under_way_.all()) over(run);
  co_await work_.join();
}

void Jobs::handle(std::string job_name, JobHandler handler) {
  handlers_.insert_or_assign(std::move(job_name), std::move(handler));
}

void Jobs::handle_where_given(std::string member, SettingsWork work) {
  settings_handlers_.insert_or_assign(std::move(member), std::move(work));
}

ExtensionPointer Jobs::require(std::string_view id_or_name) const {
  auto job = extensions_.find(ExtensionType::job, id_or_name);
  if (!job) throw job_not_found();
  return job;
}

Task<JobRunStarted> Jobs::run(ExtensionPointer job, bool dry, Along<JobRunStarted> along) {
  return started_by(std::move(job), {.dry = dry}, std::move(along));
}

Task<JobRunStarted> Jobs::run_for(const ToolRun& caller, ExtensionPointer job) {
  JobOrder order{.handed_down = caller.handed_down};
  if (const auto ordering = job_run_of(caller.run_id)) {
    order.depth = ordering->depth;
    order.callers = ordering->callers;
    order.callers.insert(ordering->job->id);
  }
  return started_by(std::move(job), std::move(order), {});
}

Task<JobRunStarted> Jobs::started_by(ExtensionPointer job, JobOrder order, Along<JobRunStarted> along) {
  const auto answer = [](const JobRun& run) { return JobRunStarted{run.job, run.dry, run.thread_id.value_or("")}; };
  Along<JobRun> along_row;
  if (along) {
    along_row = [along = std::move(along), answer](Connection& connection, const JobRun& run) {
      along(connection, answer(run));
    };
  }
  const auto run = co_await begin(std::move(job), std::move(order), std::move(along_row));
  co_return answer(run->run);
}

Task<JobRun> Jobs::stop_run(std::string run_id) {
  if (const auto run = under_way_.find(run_id)) {
    run->stop_wanted = true;
    if (run->active) co_await engine_.stop_run(run->active);
    co_await requested(run->over);
  }
  const auto row =
      co_await database_.read([run_id](Connection& connection) { return job_store::find(connection, run_id); });
  if (!row) throw NotFound("run not found");
  co_return named_now(*row);
}

/// Whoever reads of a run looks for its job by the name that it has now.
JobRun Jobs::named_now(JobRun run) const {
  if (const auto job = extensions_.find(run.job_id)) run.job = job->name;
  return run;
}

Task<std::vector<JobRun>> Jobs::runs_of(ExtensionPointer job, JobRunFilter filter) {
  auto runs = co_await database_.read([job_id = job->id, filter](Connection& connection) {
    return job_store::list(connection, job_id, filter.limit.value);
  });
  for (auto& run : runs) run = named_now(std::move(run));
  co_return runs;
}

Task<std::vector<JobRun>> Jobs::completed_runs_of(ExtensionPointer job, Timestamp since, int limit) {
  co_return co_await database_.read([job_id = job->id, since, limit](Connection& connection) {
    return job_store::completed(connection, job_id, since, limit);
  });
}

Task<std::vector<JobRun>> Jobs::recent(Timestamp since, int limit) {
  auto runs = co_await database_.read(
      [since, limit](Connection& connection) { return job_store::recent(connection, since, limit); });
  for (auto& run : runs) run = named_now(std::move(run));
  co_return runs;
}

Task<std::string> Jobs::list_text() {
  ExtensionFilter filter;
  filter.type = ExtensionType::job;
  // Thousands of schedules take their time, so not on the loop.
  co_return co_await database_.read([jobs = extensions_.list(filter), now = clock_.now()](Connection& connection) {
    std::string text = "[";
    for (const auto& job : jobs) {
      if (text.size() > 1) text += ',';
      write_json(text, summary(connection, *job, now));
    }
    text += ']';
    return text;
  });
}

}  // namespace agw
