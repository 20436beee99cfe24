#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "features/jobs/runner.hpp"
#include "features/jobs/triggers.hpp"

namespace agw {

/// Jobs: their runs, by hand and by their triggers, and the rows that tell of them.
class Jobs {
public:
  struct Options {
    std::filesystem::path directory;  ///< `{data_dir}/jobs`
    std::chrono::days kept{90};       ///< how long ended runs are
  };
  Jobs(Loop& loop, Database& database, Hub& hub, const Clock& clock, Signals& signals, Extensions& extensions,
       Threads& threads, Runs& runs, Engine& engine, Models& models, Options options);

  /// Before the loop runs: ends what a killed gateway left under way. `left` is what is kept of its runs.
  void load(Connection& connection, const std::vector<InterruptedRun>& left);
  /// Arms the triggers, a few at a time, as soon as the database tells what is needed for that, sees to the times that
  /// were missed, and then does `once_armed`: what it publishes starts jobs. The extensions are loaded.
  void start(std::function<Task<>()> once_armed = {});
  /// Nothing starts by itself any more: an event is noted by a row that says so.
  Task<> disarm();
  /// Once the engine has stopped, and nobody can cause an event any more.
  Task<> stop();

  /// The rows that events order: a request that causes one is answered when the row is there.
  Aftermath& aftermath() { return triggers_.aftermath(); }

  /// The shipped job of that name is done by `handler`.
  void handle(std::string job_name, JobHandler handler) { runner_.handle(std::move(job_name), std::move(handler)); }
  /// Every job whose definition has that member, an object, is done by `work`, unless an agent made the job.
  void handle_where_given(std::string member, JobSettingsWork work) {
    runner_.handle_where_given(std::move(member), std::move(work));
  }

  /// Throws NotFound `job not found`.
  ExtensionPointer require(std::string_view id_or_name) const;

  /// Starts a run by hand. Throws BadRequest `agent not found` or `agent is disabled` (both
  /// with `agent_id`) for its agent and its owner; Conflict `job is already running` or `too many runs of the job
  /// wait`.
  Task<JobRunStarted> run(ExtensionPointer job, bool dry, Along<JobRunStarted> along = {});

  /// The same for an agent, whose run hands its limits down.
  Task<JobRunStarted> run_for(const ToolRun& caller, ExtensionPointer job);

  /// Nothing where the job has no webhook trigger.
  std::optional<JobHook> find_hook(std::string_view id_or_name) const { return triggers_.find_hook(id_or_name); }
  /// Starts its run with the body. Throws Conflict `job is disabled`, and as `run` does; what it throws for its agents
  /// becomes a row as well.
  Task<JobRunStarted> run_hook(JobHook hook, std::optional<json::value> body, Along<JobRunStarted> along = {}) {
    return triggers_.run_hook(std::move(hook), std::move(body), std::move(along));
  }

  /// Stops a run and gives its row; one that had ended stays as it is. Throws NotFound `run not found`, and as
  /// Engine::stop_run does.
  Task<JobRun> stop_run(std::string run_id);

  /// Newest first.
  Task<std::vector<JobRun>> runs_of(ExtensionPointer job, JobRunFilter filter);
  /// The newest `limit` that completed after `since`.
  Task<std::vector<JobRun>> completed_runs_of(ExtensionPointer job, Timestamp since, int limit);
  /// Of all jobs: the newest `limit` runs that are not over or ended after `since`, without skipped ones.
  Task<std::vector<JobRun>> recent(Timestamp since, int limit);
  /// All jobs, newest first, as a JSON array of JobSummary.
  Task<std::string> list_text();

  /// What leads to what the run of that id does: the jobs behind it, none where it is of no job.
  EventCause cause_in(const std::string& run_id) const;

  /// An event has happened that only its own room knows of.
  template <DescribedStruct T>
  void tell_record(std::string_view event, const T& record) {
    triggers_.tell_record(event, record);
  }

private:
  Task<> purge_old();

  Database& database_;
  const Clock& clock_;
  Extensions& extensions_;
  const std::chrono::days kept_;
  JobRunner runner_;
  JobTriggers triggers_;
  Stop stopping_;
  Group work_;
};

}  // namespace agw
