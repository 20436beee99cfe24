#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/aftermath.hpp"
#include "base/group.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/event_triggers.hpp"
#include "features/jobs/job_threads.hpp"
#include "features/jobs/plan.hpp"
#include "features/jobs/record.hpp"
#include "features/jobs/scheduler.hpp"
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

/// Jobs: their runs, by hand and by their triggers, and the rows that tell of them.
///
/// A due time of a schedule fires once: its row, the prompt's turn and the run are one transaction, and of two rows for
/// one due time the second is refused. What keeps a due time from firing becomes its row.
class Jobs : private ExtensionObserver {
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
  Aftermath& aftermath() { return aftermath_; }

  /// The shipped job of that name is done by `handler`.
  void handle(std::string job_name, JobHandler handler);
  /// Every job whose definition has that member, an object, is done by `work`, unless an agent made the job.
  using SettingsWork = std::function<Task<std::string>(json::object settings, JobWork work)>;
  void handle_where_given(std::string member, SettingsWork work);

  /// Throws NotFound `job not found`.
  ExtensionPointer require(std::string_view id_or_name) const;

  /// Starts a run by hand. Throws BadRequest `agent not found` or `agent is disabled` (both
  /// with `agent_id`) for its agent and its owner; Conflict `job is already running` or `too many runs of the job
  /// wait`.
  Task<JobRunStarted> run(ExtensionPointer job, bool dry, Along<JobRunStarted> along = {});

  /// The same for an agent, whose run hands its limits down.
  Task<JobRunStarted> run_for(const ToolRun& caller, ExtensionPointer job);

  /// The job that `POST /hooks/:name` is for, and the secret of its signatures. Nothing where it has no webhook
  /// trigger.
  struct Hook {
    ExtensionPointer job;
    std::optional<std::string> secret;
  };
  std::optional<Hook> find_hook(std::string_view id_or_name) const;
  /// Starts its run with the body. Throws Conflict `job is disabled`, and as `run` does; what it throws for its agents
  /// becomes a row as well.
  Task<JobRunStarted> run_hook(Hook hook, std::optional<json::value> body, Along<JobRunStarted> along = {});

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
    events_.tell(event, [&] { return record_of(record); });
  }

private:
  JobRun named_now(JobRun run) const;
  Task<JobRunStarted> started_by(ExtensionPointer job, JobOrder order, Along<JobRunStarted> along);

  // A run: running.cpp.
  Task<JobRunUnderWayPointer> begin(ExtensionPointer job, JobOrder order, Along<JobRun> along);
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
  void drop_waiting(const std::string& job_id);
  void end_soon(const JobRunUnderWayPointer& run);
  void over(const JobRunUnderWayPointer& run);
  void tell_end(const JobRunUnderWayPointer& run);
  Task<> signal_failures(JobRunUnderWayPointer run);
  void publish(std::string_view type, const JobRun& run);

  // What starts runs by itself: firing.cpp.
  void extension_changed(const Extension& extension, ExtensionAction action, const std::string& run_id) override;
  Task<> arm_all(std::function<Task<>()> once_armed);
  using DueTimeByJob = std::map<std::string, Timestamp>;
  Task<std::optional<DueTimeByJob>> latest_due_times();
  Timestamp counts_since(const Extension& job, Timestamp latest_due_time) const;
  void rearm(const Extension& job);
  /// These two give whether the job's trigger is another one now.
  bool arm(const Extension& job, Timestamp after);
  bool disarm_job(const std::string& job_id);
  bool waits_as_before(const Extension& job) const;
  void on_due(const DueTimes& due);
  void on_set_back(Timestamp now);
  void on_event(const std::string& job_id, std::string_view event, const json::object& record, EventCause cause);
  std::optional<std::string> why_not_started(const JobOrder& order) const;
  JobRunUnderWayPointer job_run_of(std::string run_id) const;
  std::vector<JobRunUnderWayPointer> causes_of(std::string_view event, const json::object& record,
                                               const std::string& run_id) const;
  Task<> fire(ExtensionPointer job, JobOrder order);
  Task<> keep_unstarted(ExtensionPointer job, std::vector<JobRun> rows, int depth = 0);
  JobRun unstarted(const Extension& job, const JobOrder& order, JobRunStatus status, std::string why) const;
  Task<> forget(std::string job_id);
  Task<> forget_due_times(std::string job_id);
  Task<> remember_due_time(std::string job_id, Timestamp due_at);
  Task<> set_due_times_back(Timestamp now);
  Task<> purge_old();

  Loop& loop_;
  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  Signals& signals_;
  Extensions& extensions_;
  Threads& threads_;
  Runs& runs_;
  Engine& engine_;
  Models& models_;
  const Options options_;
  Timestamp up_since_;  ///< or since when the clock was set back to before that
  JobThreads job_threads_;
  JobRunsUnderWay under_way_;
  Scheduler scheduler_;
  EventTriggers events_;
  JobRunUnderWayPointer ended_;                            ///< the run of whose end is being told
  std::map<std::string, std::string, std::less<>> armed_;  ///< by job: the text of its trigger
  std::map<std::string, JobHandler, std::less<>> handlers_;
  std::map<std::string, SettingsWork, std::less<>> settings_handlers_;  ///< by member
  Stop stopping_;
  bool stopped_ = false;
  Aftermath aftermath_;
  Group work_;
};

}  // namespace agw
