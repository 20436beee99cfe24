#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/group.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/job_threads.hpp"
#include "features/jobs/plan.hpp"
#include "features/jobs/types.hpp"
#include "features/jobs/under_way.hpp"
#include "features/signals/service.hpp"
#include "models/catalog.hpp"

namespace agw {

/// What starts a run of a job.
struct JobOrder {
  JobRunTrigger trigger = JobRunTrigger::manual;
  bool dry = false;
  std::optional<Timestamp> due_at{};
  std::optional<std::string> enclosure{};  ///< what came with the trigger, as text
  int depth = 0;                           ///< how many events led to it, one run after the other
  std::set<std::string> callers{};         ///< see JobRunUnderWay
  json::object handed_down{};              ///< of the run whose agent ordered it: see ToolRun
};

/// What a handler is told of the run that it does.
struct JobWork {
  std::string run_id;
  bool dry = false;
  Stop& stop;
};

/// Does the work of a shipped job without a model: gives the text of its report. What it throws fails the run.
struct JobHandler {
  enum class When { always, without_model };
  When when = When::always;
  std::function<Task<std::string>(JobWork work)> work;
};

/// The same for every job that has settings of some name.
using JobSettingsWork = std::function<Task<std::string>(json::object settings, JobWork work)>;

/// Runs of jobs: what they may not start beside, where their output goes, what their agents are told, how they end, and
/// the rows that tell of them.
class JobRunner {
public:
  struct Links {
    /// A run has ended, or could not begin: `job.completed` or `job.failed`.
    std::function<void(const JobRunUnderWayPointer& run, std::string_view event, const JobRun& row)> ended;
  };
  /// `directory` is `{data_dir}/jobs`.
  JobRunner(Loop& loop, Database& database, Hub& hub, const Clock& clock, Signals& signals, Extensions& extensions,
            Threads& threads, Runs& runs, Engine& engine, Models& models, std::filesystem::path directory, Links links);

  /// The shipped job of that name is done by `handler`.
  void handle(std::string job_name, JobHandler handler);
  /// Every job whose definition has that member, an object, is done by `work`, unless an agent made the job.
  void handle_where_given(std::string member, JobSettingsWork work);

  /// Begins a run: its row is stored, with `along`, when this returns. Throws as Jobs::run does, and DueTimeTaken.
  Task<JobRunUnderWayPointer> begin(ExtensionPointer job, JobOrder order, Along<JobRun> along);
  /// The same as a request answers it.
  Task<JobRunStarted> start(ExtensionPointer job, JobOrder order, Along<JobRunStarted> along);

  /// A row for a run that was not begun, and why; nothing is stored yet.
  JobRun unstarted(const Extension& job, const JobOrder& order, JobRunStatus status, std::string why) const;
  /// Stores such rows and tells of the failed ones. Of two for one due time the second is dropped.
  Task<> keep_unstarted(ExtensionPointer job, std::vector<JobRun> rows, int depth = 0);

  /// Stops a run that is under way, and returns when it has ended. Throws as Engine::stop_run does.
  Task<> stop_run(JobRunUnderWayPointer run);
  /// Stops those runs of the job that have not begun yet.
  void drop_waiting(const std::string& job_id);

  const JobRunsUnderWay& under_way() const { return under_way_; }
  /// The job's run that a run belongs to: its own, or the one that delegated to it, however often. Null for none.
  JobRunUnderWayPointer job_run_of(std::string run_id) const;
  /// Whoever reads of a run looks for its job by the name that it has now.
  JobRun named_now(JobRun run) const;

  /// Once the engine has stopped: what waits for the end of a run waits no longer.
  void end_all();
  Task<> join() { return work_.join(); }

private:
  void check_free(const Extension& job, const JobPlan& plan) const;
  Task<> wait_for_places(JobRunUnderWayPointer run);
  Task<> put_on_thread(JobRunUnderWayPointer run, JobOrder order, Along<JobRun> along);
  Task<> begin_turn(JobRunUnderWayPointer run, JobTurn job_turn, Along<JobRun> along);
  JobTurn job_turn_of(const JobRunUnderWayPointer& run, const JobOrder& order, std::string prompt);
  std::vector<ActiveRunPointer> active_ahead_of(const JobRunUnderWayPointer& run) const;
  Answerer answerer_of(const JobRunUnderWay& run) const;
  Task<> fail_at_once(JobRunUnderWayPointer run, std::string why, Along<JobRun> along);
  RunFollower follower_of(const JobRunUnderWayPointer& run);
  void started(const JobRunUnderWayPointer& run);
  void ended(const JobRunUnderWayPointer& run);
  Task<> mark_started(std::string id, Timestamp now);
  Task<> watch_time(JobRunUnderWayPointer run);
  void end_soon(const JobRunUnderWayPointer& run);
  void over(const JobRunUnderWayPointer& run);
  void tell_end(const JobRunUnderWayPointer& run);
  Task<> signal_failures(JobRunUnderWayPointer run);
  void publish(std::string_view type, const JobRun& run);

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  Signals& signals_;
  Extensions& extensions_;
  Runs& runs_;
  Engine& engine_;
  Models& models_;
  const std::filesystem::path directory_;
  const Links links_;
  JobThreads job_threads_;
  JobRunsUnderWay under_way_;
  std::map<std::string, JobHandler, std::less<>> handlers_;
  std::map<std::string, JobSettingsWork, std::less<>> settings_handlers_;  ///< by member
  Group work_;
};

}  // namespace agw
