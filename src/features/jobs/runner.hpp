#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/async/task_group.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/active_job_run.hpp"
#include "features/jobs/job_threads.hpp"
#include "features/jobs/precheck.hpp"
#include "features/jobs/types.hpp"
#include "features/signals/service.hpp"
#include "models/catalog.hpp"

namespace agw {

/// A due time already has a row: it fired before, perhaps before a restart or before the clock was set back.
class DueTimeTaken : public std::exception {
public:
  const char* what() const noexcept override { return "the due time has been taken"; }
};

/// Another node has a run of the job that was requested earlier.
class JobRunElsewhere : public std::exception {
public:
  const char* what() const noexcept override { return "another node runs the job"; }
};

/// The run that a handler works for.
struct JobWork {
  std::string run_id;
  bool dry = false;
  StopSource& stop;
};

/// Does the work of a shipped job without a model, and returns the text of its report. An exception makes the run fail.
struct JobHandler {
  enum class When { always, without_model };
  When when = When::always;
  std::function<Task<std::string>(JobWork work)> work;
};

/// Does the work of every job whose definition contains certain settings, and returns the text of its report.
using JobSettingsWork = std::function<Task<std::string>(json::object settings, JobWork work)>;

/// Manages runs of jobs: decides when they may start, chooses their threads, makes their prompts, ends them, and stores
/// their rows.
class JobRunner {
public:
  /// `directory` is `{data_dir}/jobs`. With `is_node`, runs also wait for those of other nodes in the cluster.
  JobRunner(Loop& loop, Database& database, Hub& hub, const Clock& clock, Signals& signals, Extensions& extensions,
            Threads& threads, Runs& runs, Engine& engine, Models& models, BlockingPool& blocking,
            const Sandbox& sandbox, std::filesystem::path directory, bool is_node);

  /// Registers the handler of the shipped job of that name.
  void handle(std::string job_name, JobHandler handler);
  /// Registers `work` for every job whose definition has an object as that member, unless an agent made the job.
  void handle_where_given(std::string member, JobSettingsWork work);

  /// Starts a run. Its row and `in_transaction` are stored when this returns. Throws as Jobs::run does, and
  /// DueTimeTaken.
  Task<ActiveJobRunPointer> begin(ExtensionPointer job, JobOrder order, InTransaction<JobRun> in_transaction);
  /// Like `begin`, but returns the response to a request.
  Task<JobRunStarted> start(ExtensionPointer job, JobOrder order, InTransaction<JobRunStarted> in_transaction);

  /// Makes a row for a run that was not started, with the reason, without storing it.
  JobRun unstarted(const Extension& job, const JobOrder& order, JobRunStatus status, std::string why) const;
  /// Stores such rows and publishes the failed ones. Ignores a second row for the same due time.
  Task<> store_unstarted(ExtensionPointer job, std::vector<JobRun> rows, int depth = 0);

  /// Stops a run, and returns once it has ended. Throws as Engine::stop_run does.
  Task<> stop_run(ActiveJobRunPointer run);
  /// Stops a run of this node without waiting for its end. Ignores other ids.
  void end_soon(std::string_view run_id);
  /// Stops the queued runs of the job.
  void drop_waiting(const std::string& job_id);

  const ActiveJobRuns& active() const { return active_runs_; }
  /// The run with its job's current name, which clients use to find the job.
  JobRun named_now(JobRun run) const;

  /// Ends all waits for the end of a run. Call it after the engine has stopped.
  void end_all();
  /// Ends active prechecks, and every later one at once, because the gateway is stopping.
  void stop_prechecks();
  Task<> join() { return work_.join(); }

private:
  class Observer;

  void check_free(const ActiveJobRun& run) const;
  Task<> wait_for_places(ActiveJobRunPointer run);
  /// Stores the row of a run before its precheck, so that the caller does not wait for a command.
  Task<> store_waiting(ActiveJobRunPointer run, InTransaction<JobRun> in_transaction);
  Task<> run_after_precheck(ActiveJobRunPointer run);
  Task<PrecheckResult> precheck(ActiveJobRunPointer run);
  Task<bool> may_begin(ActiveJobRunPointer run);
  Task<> queue_behind_others(ActiveJobRunPointer run, InTransaction<JobRun> in_transaction);
  Task<> run_after_others(ActiveJobRunPointer run);
  Task<bool> put_on_thread_with_retries(ActiveJobRunPointer run);
  Task<bool> wait_for_others(ActiveJobRunPointer run);
  Task<bool> stop_unopened(std::string thread_id);
  Task<> end_unstarted(ActiveJobRunPointer run, JobRunStatus status, std::string why);
  Task<bool> store_end(ActiveJobRunPointer run);
  Task<std::string> choose_thread(const ActiveJobRun& run);
  static void write_row(Connection& connection, const JobRun& row, bool has_row);
  Task<> put_on_thread(ActiveJobRunPointer run, InTransaction<JobRun> in_transaction);
  Task<> begin_turn(ActiveJobRunPointer run, RunRequest run_request, InTransaction<JobRun> in_transaction);
  RunRequest run_request_of(const ActiveJobRunPointer& run, std::string prompt);
  /// Waits, before the run begins, until the client that requested it has connected.
  std::function<Task<>(StopSource&)> until_client_connected(const ActiveJobRun& run);
  Task<> wait_for_client(StopSource& stop, std::chrono::steady_clock::time_point deadline);
  std::vector<ActiveRunPointer> active_ahead_of(const ActiveJobRunPointer& run) const;
  Answerer answerer_of(const ActiveJobRun& run) const;
  Task<> started(ActiveJobRunPointer run);
  void ended(const ActiveJobRunPointer& run);
  Task<> store_start(JobRun row);
  Task<> watch_time(ActiveJobRunPointer run);
  void end_soon(const ActiveJobRunPointer& run);
  void over(const ActiveJobRunPointer& run);
  void notify_end(const ActiveJobRunPointer& run);
  Task<> signal_failures(ActiveJobRunPointer run);
  void publish(std::string_view type, const JobRun& run, std::string name = {}, EventCause cause = {});

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  Signals& signals_;
  Extensions& extensions_;
  Runs& runs_;
  Engine& engine_;
  Models& models_;
  const std::filesystem::path directory_;
  Loop& loop_;
  BlockingPool& blocking_;
  const Sandbox& sandbox_;
  const bool is_node_;
  bool stopping_ = false;
  JobThreads job_threads_;
  ActiveJobRuns active_runs_;
  std::map<std::string, JobHandler, std::less<>> handlers_;
  std::map<std::string, JobSettingsWork, std::less<>> settings_handlers_;  ///< by member
  TaskGroup work_;
};

}  // namespace agw
