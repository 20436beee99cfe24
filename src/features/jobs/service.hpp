#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "features/jobs/runner.hpp"
#include "features/jobs/triggers.hpp"

namespace agw {

struct Tool;
class Clock;
class Knowledge;
struct Route;

/// Jobs: runs them, manually or by triggers, and stores the rows of these runs.
///
/// A run of a job needs the engine, and so nearly the whole gateway: tests/api/test_jobs.py shows the use. Schedules,
/// triggers and rows have unit tests.
class Jobs {
public:
  struct Options {
    std::filesystem::path directory;  ///< `{data_dir}/jobs`
    std::chrono::days kept{90};       ///< how long ended runs are kept
    bool is_node = false;             ///< this gateway is a node of a cluster
  };
  Jobs(Loop& loop, Database& database, Hub& hub, const Clock& clock, Signals& signals, Extensions& extensions,
       Threads& threads, Runs& runs, Engine& engine, Models& models, BlockingPool& blocking, const Sandbox& sandbox,
       Options options);

  /// Ends the runs that a kill interrupted; `left` contains their stored parts. Call it before the loop runs.
  void load(Connection& connection, const std::vector<InterruptedRun>& left);
  /// Like `load`, inside a write. Returns how many runs it ended.
  static int end_interrupted(Connection& connection, const std::vector<InterruptedRun>& left, Timestamp now);
  /// Whether the thread is a job's own, inside a read or write. One that a run created for the job's owner is not.
  static bool has_as_own(Connection& connection, const std::string& thread_id);
  /// Reads the latest due times, arms the triggers, a few at a time, and handles missed due times. Then publishes
  /// `gateway.started`, which can itself start jobs. The extensions must be loaded.
  void start();
  /// Stops starting jobs at due times: other nodes start them.
  Task<> stop_schedule();
  /// Stops starting jobs automatically: from now on, an event only adds a row with the reason.
  Task<> disarm();
  /// Call it after the engine has stopped, when no more events can occur.
  Task<> stop();

  /// Registers the handler of the shipped job of that name.
  void handle(std::string job_name, JobHandler handler) { runner_.handle(std::move(job_name), std::move(handler)); }
  /// Registers `work` for every job whose definition has an object as that member, unless an agent made the job.
  void handle_where_given(std::string member, JobSettingsWork work) {
    runner_.handle_where_given(std::move(member), std::move(work));
  }

  /// Throws NotFound `job not found`.
  ExtensionPointer require(std::string_view id_or_name) const;

  /// Starts a run manually. Throws BadRequest `agent not found` or `agent is disabled` (both with `agent_id`) for the
  /// job's agent and owner; Conflict `job is already running` or `too many runs of the job wait`.
  Task<JobRunStarted> run(ExtensionPointer job, bool dry, InTransaction<JobRunStarted> in_transaction = {});

  /// Like `run`, for an agent. The new run inherits the limits of the agent's run.
  Task<JobRunStarted> run_for(const ToolRun& caller, ExtensionPointer job);

  /// No value if the job has no webhook trigger.
  std::optional<JobHook> find_hook(std::string_view id_or_name) const { return triggers_.find_hook(id_or_name); }
  /// Starts a run with the body as data. Throws Conflict `job is disabled`, and as `run` does; errors about the job's
  /// agents also add a row.
  Task<JobRunStarted> run_hook(JobHook hook, std::optional<json::value> body,
                               InTransaction<JobRunStarted> in_transaction = {}) {
    return triggers_.run_hook(std::move(hook), std::move(body), std::move(in_transaction));
  }

  /// Stops a run and returns its row, unchanged if it had already ended. Throws NotFound `run not found`, and as
  /// Engine::stop_run does.
  Task<JobRun> stop_run(std::string run_id);

  /// Ends runs that a later run on another node replaces. Ignores runs that are not of this node.
  Task<> end_soon(std::vector<std::string> run_ids);

  /// The job's runs, newest first.
  Task<std::vector<JobRun>> runs_of(ExtensionPointer job, JobRunFilter filter);
  /// The job's newest `limit` runs that completed after `since`.
  Task<std::vector<JobRun>> completed_runs_of(ExtensionPointer job, Timestamp since, int limit);
  /// The newest `limit` runs of all jobs that have not ended or ended after `since`, without skipped ones.
  Task<std::vector<JobRun>> recent(Timestamp since, int limit);
  /// All jobs, newest first, as a JSON array of JobSummary.
  Task<std::string> list_text();

private:
  Task<> purge_old();

  Database& database_;
  const Clock& clock_;
  Extensions& extensions_;
  const std::chrono::days kept_;
  Engine& engine_;
  JobRunner runner_;
  JobTriggers triggers_;
  StopSource stopping_;
  TaskGroup work_;
};

/// The routes of job runs, webhooks, and cron expressions.
std::vector<Route> job_routes(Jobs& jobs, const Clock& clock);

/// RunJob: starts a run of a job, with no more rights than the calling run has.
Tool run_job_tool(Jobs& jobs);

/// Makes the shipped job `compile-knowledge` compile the knowledge, which must outlive `jobs`.
void handle_knowledge_job(Jobs& jobs, Knowledge& knowledge);

}  // namespace agw
