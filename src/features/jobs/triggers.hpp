#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/event_triggers.hpp"
#include "features/jobs/runner.hpp"
#include "features/jobs/scheduler.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// The job that `POST /hooks/:name` starts, and the secret of its signatures.
struct JobHook {
  ExtensionPointer job;
  std::optional<std::string> secret;
};

/// Starts jobs automatically: by schedules, events and webhooks.
///
/// A due time of a schedule fires once: its row, the prompt's turn and the run are written in one transaction, and the
/// database rejects a second row for the same due time. If a due time cannot fire, its row has the reason.
class JobTriggers : private Subscriber {
public:
  JobTriggers(Loop& loop, Database& database, Hub& hub, const Clock& clock, Extensions& extensions, Engine& engine,
              JobRunner& runner, BlockingPool& blocking);

  /// See Jobs::start.
  void start();
  /// See Jobs::stop_schedule.
  Task<> stop_schedule();
  /// See Jobs::disarm.
  Task<> disarm();
  /// From now on, events do not add rows either.
  void close() { closed_ = true; }
  Task<> join() { return work_.join(); }

  /// No value if the job has no webhook trigger.
  std::optional<JobHook> find_hook(std::string_view id_or_name) const;
  /// See Jobs::run_hook.
  Task<JobRunStarted> run_hook(JobHook hook, std::optional<json::value> body,
                               InTransaction<JobRunStarted> in_transaction);

private:
  void deliver(const DomainEvent& event) override;
  bool awaits(std::string_view names) const override { return events_.awaits(names); }
  void arm_events();
  Task<> arm_all();
  using DueTimeByJob = std::map<std::string, Timestamp>;
  Task<std::optional<DueTimeByJob>> latest_due_times();
  Timestamp counts_since(const Extension& job, Timestamp latest_due_time) const;
  void rearm(const Extension& job);
  // These return whether the job's trigger has changed.
  bool arm(const Extension& job, Timestamp after);
  bool disarm_job(const std::string& job_id);
  bool is_trigger_unchanged(const Extension& job) const;
  void on_due(const DueTimes& due);
  void on_set_back(Timestamp now);
  void on_event(const std::string& job_id, const DomainEvent& event, const json::object& record);
  std::optional<std::string> why_not_started(const JobOrder& order) const;
  EventCause cause_of(const DomainEvent& event, const json::object& record) const;
  Task<> fire(ExtensionPointer job, JobOrder order);
  Task<std::optional<JobRun>> begin(ExtensionPointer job, JobOrder order);
  Task<> forget(std::string job_id);
  Task<> forget_due_times(std::string job_id);
  Task<> remember_due_time(std::string job_id, Timestamp due_at);
  Task<> set_due_times_back(Timestamp now);

  Database& database_;
  Hub& hub_;
  const Clock& clock_;
  Extensions& extensions_;
  Engine& engine_;
  JobRunner& runner_;
  BlockingPool& blocking_;
  Timestamp up_since_;  ///< the start of the gateway, or an earlier time to which the clock was set back since
  Scheduler scheduler_;
  EventTriggers events_;
  std::map<std::string, std::string, std::less<>> armed_;       ///< by job: the text of its trigger
  std::map<std::string, Timestamp, std::less<>> latest_fired_;  ///< by job: the latest due time
  StopSource stopping_;
  bool closed_ = false;
  TaskGroup work_;
  Hub::Listening listening_;
};

/// Whether `signature` (`sha256=<hex digits>`, as in `X-Hub-Signature-256`) is that of `body` with `secret`. Compares
/// in constant time.
bool is_signed(std::string_view body, std::string_view secret, std::optional<std::string_view> signature);

}  // namespace agw
