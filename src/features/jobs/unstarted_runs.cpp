// Runs of jobs whose agents have not begun: those that wait for a precheck or for other nodes, and those that end
// before they begin.

#include <algorithm>
#include <vector>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "features/jobs/runner.hpp"
#include "features/jobs/store.hpp"
#include "storage/database.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto before_storing_end_again = 1s;
constexpr auto before_starting_again = 1s;
constexpr auto others_poll_interval = 250ms;
constexpr auto between_errors = 1min;  // in the log

/// The error for a run that could not start because of the current exception.
std::string start_problem(const std::string& job) {
  AGW_ASSERT(std::current_exception());
  try {
    throw;
  } catch (const ApiError& refused) {
    return refused.error();
  } catch (const std::exception& error) {
    log::error("job {} could not start: {}", job, error.what());
    return error.what();
  }
}

}  // namespace

Task<> JobRunner::store_waiting(ActiveJobRunPointer run, InTransaction<JobRun> in_transaction) {
  AGW_ASSERT(!run->has_row);
  AGW_ASSERT(run->plan.precheck);
  run->run.thread_id = co_await choose_thread(*run);
  run->run.status = JobRunStatus::queued;
  co_await database_.write(
      [row = run->run, concurrency = run->plan.concurrency, in_transaction](Connection& connection) {
        if (!job_store::insert(connection, row)) throw DueTimeTaken();
        job_store::check_free_elsewhere(connection, row.job_id, concurrency);
        if (in_transaction) in_transaction(connection, row);
      });
  run->has_row = true;
  work_.spawn(run_after_precheck(run));
}

Task<> JobRunner::run_after_precheck(ActiveJobRunPointer run) {
  AGW_ASSERT(run->has_row);
  AGW_ASSERT(run->plan.precheck);
  using Verdict = PrecheckResult::Verdict;
  std::string problem;
  try {
    auto result = co_await precheck(run);
    if (result.verdict == Verdict::skip) co_return co_await end_unstarted(run, JobRunStatus::skipped, result.problem);
    if (result.verdict == Verdict::stopped || run->stop_requested)
      co_return co_await end_unstarted(run, JobRunStatus::stopped, "");
    problem = std::move(result.problem);
    run->precheck_output = std::move(result.output);
    if (problem.empty()) {
      if (co_await put_on_thread_with_retries(run)) co_return;
      co_return co_await end_unstarted(run, JobRunStatus::stopped, "");
    }
  } catch (const std::exception&) {
    problem = start_problem(run->job->name);
  }
  co_await end_unstarted(run, JobRunStatus::failed, std::move(problem));
}

Task<PrecheckResult> JobRunner::precheck(ActiveJobRunPointer run) {
  using Verdict = PrecheckResult::Verdict;
  if (stopping_ || run->stop_requested) co_return PrecheckResult{.verdict = Verdict::stopped};
  // The agent that made the job might not be allowed to run commands, and a job cannot ask a person.
  if (run->job->source == Source::agent)
    co_return PrecheckResult{.verdict = Verdict::fail,
                             .problem = "a precheck runs only in jobs that a person made; create the job yourself"};
  const auto now = extensions_.find(run->job->id);
  const auto agent = extensions_.require_enabled_agent(run->plan.agent_id);
  Precheck precheck{.command = *run->plan.precheck,
                    .roots = {.data_directory = directory_.parent_path(), .agent = agent->name},
                    .job_directory = directory_ / (now ? now : run->job)->name,
                    .dry = run->run.dry};
  co_return co_await run_precheck(loop_, blocking_, sandbox_, std::move(precheck), run->precheck_stop);
}

// Among the nodes of a cluster, the run whose row is the first that has not ended begins first. Rows are numbered in
// the order in which the runs were requested.

Task<bool> JobRunner::may_begin(ActiveJobRunPointer run) {
  for (const auto& other : active_runs_.ahead_of(run)) {
    if (!other->placed.requested()) co_return false;
  }
  co_return !co_await database_.read([row = run->run, concurrency = run->plan.concurrency](Connection& connection) {
    return job_store::is_behind_others(connection, row, concurrency);
  });
}

/// Acknowledges the run before it waits for the other nodes, so that its caller need not wait for them.
Task<> JobRunner::queue_behind_others(ActiveJobRunPointer run, InTransaction<JobRun> in_transaction) {
  const bool replaces = run->plan.concurrency == JobConcurrency::replace;
  for (const auto& other : active_runs_.ahead_of(run)) {
    if (replaces && !other->active) end_soon(other);
  }
  run->active = nullptr;
  if (!run->run.thread_id) run->run.thread_id = co_await choose_thread(*run);
  run->run.status = JobRunStatus::queued;
  run->run.started_at.reset();
  co_await database_.write([row = run->run, has_row = run->has_row, replaces, in_transaction,
                            concurrency = run->plan.concurrency](Connection& connection) {
    if (!has_row && !job_store::insert(connection, row)) throw DueTimeTaken();
    if (!has_row) job_store::check_free_elsewhere(connection, row.job_id, concurrency);
    if (replaces) job_store::stop_elsewhere(connection, row);
    if (in_transaction) in_transaction(connection, row);
  });
  run->has_row = true;
  work_.spawn(run_after_others(run));
}

Task<> JobRunner::run_after_others(ActiveJobRunPointer run) {
  AGW_ASSERT(run->has_row);
  AGW_ASSERT(run->run.status == JobRunStatus::queued);
  std::string problem;
  try {
    if (co_await wait_for_others(run) && co_await put_on_thread_with_retries(run)) co_return;
    co_return co_await end_unstarted(run, JobRunStatus::stopped, "");
  } catch (const std::exception&) {
    problem = start_problem(run->job->name);
  }
  co_await end_unstarted(run, JobRunStatus::failed, std::move(problem));
}

/// Retries while the database is unavailable, because the run was acknowledged. Returns false if the run is stopped.
Task<bool> JobRunner::put_on_thread_with_retries(ActiveJobRunPointer run) {
  AGW_ASSERT(run->has_row);
  auto next_error = std::chrono::steady_clock::time_point::min();
  do {
    try {
      co_await put_on_thread(run, {});
      co_return true;
    } catch (const DatabaseUnavailable& error) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= next_error) {
        log::warn("a run of the job {} waits for the database: {}", run->job->name, error.what());
        next_error = now + between_errors;
      }
    }
    run->active = nullptr;
  } while (co_await pause(run->precheck_stop, before_starting_again) == WaitResult::done);
  co_return false;
}

/// Returns false if the run is stopped.
Task<bool> JobRunner::wait_for_others(ActiveJobRunPointer run) {
  auto& stop = run->precheck_stop;
  if (co_await with_timeout(stop, no_limit, wait_for_places(run)) != WaitResult::done) co_return false;
  do {
    try {
      if (co_await may_begin(run)) co_return !run->stop_requested;
    } catch (const DatabaseUnavailable& error) {
      log::debug("job {}: asks again after a pause: {}", run->job->name, error.what());
    }
  } while (co_await pause(stop, others_poll_interval) == WaitResult::done);
  co_return false;
}

/// Stops the runs that have this thread but are not in its queue yet. Returns whether there were any.
Task<bool> JobRunner::stop_unopened(std::string thread_id) {
  auto waiting = active_runs_.all();
  std::erase_if(waiting,
                [&](const auto& run) { return run->active || !run->has_row || run->run.thread_id != thread_id; });
  for (const auto& run : waiting) end_soon(run);
  for (const auto& run : waiting) co_await until_requested(run->over);
  co_return std::ranges::any_of(waiting, [](const auto& run) { return run->run.status == JobRunStatus::stopped; });
}

/// Ends a run whose agent has not begun.
Task<> JobRunner::end_unstarted(ActiveJobRunPointer run, JobRunStatus status, std::string why) {
  auto& row = run->run;
  AGW_ASSERT(run->has_row);
  AGW_ASSERT(!is_open(status));
  row.status = status;
  row.finished_at = clock_.now();
  if (!why.empty()) row.error = std::move(why);
  if (!co_await store_end(run)) co_return;
  over(run);
  notify_end(run);
}

/// Retries until it succeeds, because other runs wait for this one. Returns false if the gateway stops; the next start
/// then ends the run.
Task<bool> JobRunner::store_end(ActiveJobRunPointer run) {
  AGW_ASSERT(run->run.finished_at);
  auto next_error = std::chrono::steady_clock::time_point::min();
  do {
    try {
      co_await database_.write([row = run->run](Connection& connection) { job_store::end(connection, row); });
      co_return true;
    } catch (const std::exception& error) {
      const auto now = std::chrono::steady_clock::now();
      if (now < next_error) continue;
      log::error("the end of a run of the job {} is not stored yet: {}", run->job->name, error.what());
      next_error = now + between_errors;
    }
  } while (co_await pause(run->over, before_storing_end_again) == WaitResult::done);
  co_return false;
}

JobRun JobRunner::unstarted(const Extension& job, const JobOrder& order, JobRunStatus status, std::string why) const {
  AGW_ASSERT(status == JobRunStatus::skipped || status == JobRunStatus::failed);
  return {.id = new_id(),
          .job_id = job.id,
          .job = job.name,
          .trigger = order.trigger,
          .dry = order.dry,
          .status = status,
          .due_at = order.due_at,
          .finished_at = clock_.now(),
          .error = std::move(why)};
}

Task<> JobRunner::store_unstarted(ExtensionPointer job, std::vector<JobRun> rows, int depth) {
  AGW_ASSERT(!rows.empty());
  const auto kept = co_await database_.write([rows](Connection& connection) {
    std::vector<JobRun> inserted;
    for (const auto& row : rows) {
      if (job_store::insert(connection, row)) inserted.push_back(row);
    }
    return inserted;
  });
  for (const auto& row : kept) {
    if (row.status == JobRunStatus::skipped) continue;
    const auto ended = std::make_shared<ActiveJobRun>(job, JobOrder{.depth = depth});
    ended->run = row;
    notify_end(ended);
  }
}

}  // namespace agw
