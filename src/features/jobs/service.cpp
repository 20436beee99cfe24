#include "features/jobs/service.hpp"

#include <algorithm>

#include "api/refusals.hpp"
#include "base/error.hpp"
#include "base/json/array_text.hpp"
#include "base/log.hpp"
#include "base/time/time_zone.hpp"
#include "features/jobs/store.hpp"
#include "features/knowledge/service.hpp"
#include "storage/database.hpp"
#include "storage/start_write.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t shown_due_times = 5;
constexpr int shown_runs = 20;
constexpr auto purge_interval = 24h;

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
           Threads& threads, Runs& runs, Engine& engine, Models& models, BlockingPool& blocking, const Sandbox& sandbox,
           Options options)
    : database_(database),
      clock_(clock),
      extensions_(extensions),
      kept_(options.kept),
      engine_(engine),
      runner_(loop, database, hub, clock, signals, extensions, threads, runs, engine, models, blocking, sandbox,
              options.directory, options.is_node),
      triggers_(loop, database, hub, clock, extensions, engine, runner_, blocking),
      work_(loop) {
  work_.on_failure(
      [](const std::exception_ptr& failure) { log::error("background work of jobs failed: {}", message_of(failure)); });
}

void Jobs::load(Connection& connection, const std::vector<InterruptedRun>& left) {
  int interrupted = 0;
  write_at_start(connection, "ending the job runs that were interrupted",
                 [&] { interrupted = end_interrupted(connection, left, clock_.now()); });
  if (interrupted > 0) log::warn("{} job runs were interrupted when the gateway was killed", interrupted);
}

int Jobs::end_interrupted(Connection& connection, const std::vector<InterruptedRun>& left, Timestamp now) {
  for (const auto& run : left) job_store::record_spent(connection, run.run.id, run.progress);
  return job_store::end_interrupted(connection, now);
}

bool Jobs::has_as_own(Connection& connection, const std::string& thread_id) {
  return job_store::is_own_thread(connection, thread_id);
}

void Jobs::start() {
  // Warns before the jobs are armed, because the gateway may be stopped before that happens.
  if (const auto problem = TimeZone::host_problem(); !problem.empty()) log::warn("{}", problem);
  triggers_.start();
  work_.spawn(purge_old());
}

Task<> Jobs::stop_schedule() { return triggers_.stop_schedule(); }

Task<> Jobs::disarm() {
  stopping_.request();
  runner_.stop_prechecks();
  co_await triggers_.disarm();
}

Task<> Jobs::stop() {
  triggers_.close();
  runner_.end_all();
  co_await triggers_.join();
  co_await runner_.join();
  co_await work_.join();
}

ExtensionPointer Jobs::require(std::string_view id_or_name) const {
  auto job = extensions_.find(ExtensionType::job, id_or_name);
  if (!job) throw job_not_found();
  return job;
}

Task<JobRunStarted> Jobs::run(ExtensionPointer job, bool dry, InTransaction<JobRunStarted> in_transaction) {
  return runner_.start(std::move(job), {.dry = dry}, std::move(in_transaction));
}

Task<JobRunStarted> Jobs::run_for(const ToolRun& caller, ExtensionPointer job) {
  auto cause = engine_.cause_of(caller.run_id);
  // `cause.depth` includes the calling run, but that run is not an event.
  JobOrder order{.depth = std::max(0, cause.depth - 1),
                 .callers = std::move(cause.job_ids),
                 .inherited = caller.inherited,
                 .ordering_run_id = caller.run_id};
  return runner_.start(std::move(job), std::move(order), {});
}

Task<JobRun> Jobs::stop_run(std::string run_id) {
  if (const auto run = runner_.active().find(run_id)) co_await runner_.stop_run(run);
  const auto row =
      co_await database_.read([run_id](Connection& connection) { return job_store::find(connection, run_id); });
  if (!row) throw NotFound("run not found");
  co_return runner_.named_now(*row);
}

Task<> Jobs::end_soon(std::vector<std::string> run_ids) {
  for (const auto& id : run_ids) runner_.end_soon(id);
  co_return;
}

Task<std::vector<JobRun>> Jobs::runs_of(ExtensionPointer job, JobRunFilter filter) {
  auto runs = co_await database_.read([job_id = job->id, filter](Connection& connection) {
    return job_store::list(connection, job_id, filter.limit.value);
  });
  for (auto& run : runs) run = runner_.named_now(std::move(run));
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
  for (auto& run : runs) run = runner_.named_now(std::move(run));
  co_return runs;
}

Task<std::string> Jobs::list_text() {
  ExtensionFilter filter;
  filter.type = ExtensionType::job;
  // On a reader's thread, because computing the due times of thousands of schedules would block the loop.
  co_return co_await database_.read([jobs = extensions_.list(filter), now = clock_.now()](Connection& connection) {
    ArrayText<JobSummary> array;
    for (const auto& job : jobs) array(summary(connection, *job, now));
    return array.close();
  });
}

Task<> Jobs::purge_old() {
  do {
    const auto oldest = clock_.now() - kept_;
    co_await remove_in_batches(
        database_, stopping_, "old job runs are kept for another day",
        [oldest](Connection& connection, int limit) { return job_store::purge(connection, oldest, limit); });
  } while (co_await pause(stopping_, purge_interval) == WaitResult::done);
}

void handle_knowledge_job(Jobs& jobs, Knowledge& knowledge) {
  jobs.handle("compile-knowledge",
              {.work = [&knowledge](JobWork work) { return knowledge.compile(work.dry, work.stop); }});
}

}  // namespace agw
