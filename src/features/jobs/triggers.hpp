#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/aftermath.hpp"
#include "base/group.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/jobs/event_triggers.hpp"
#include "features/jobs/record.hpp"
#include "features/jobs/runner.hpp"
#include "features/jobs/scheduler.hpp"

namespace agw {

/// The job that `POST /hooks/:name` is for, and the secret of its signatures.
struct JobHook {
  ExtensionPointer job;
  std::optional<std::string> secret;
};

/// What starts jobs by itself: their schedules, events and webhooks.
///
/// A due time of a schedule fires once: its row, the prompt's turn and the run are one transaction, and of two rows for
/// one due time the second is refused. What keeps a due time from firing becomes its row.
class JobTriggers : private ExtensionObserver {
public:
  JobTriggers(Loop& loop, Database& database, Hub& hub, const Clock& clock, Extensions& extensions, Engine& engine,
              JobRunner& runner);

  /// See Jobs::start.
  void start(std::function<Task<>()> once_armed);
  /// Nothing starts by itself any more: an event is noted by a row that says so.
  Task<> disarm();
  /// Not even such a row is made any more.
  void close() { closed_ = true; }
  Task<> join() { return work_.join(); }

  /// The rows that events order.
  Aftermath& aftermath() { return aftermath_; }

  /// Nothing where the job has no webhook trigger.
  std::optional<JobHook> find_hook(std::string_view id_or_name) const;
  /// See Jobs::run_hook.
  Task<JobRunStarted> run_hook(JobHook hook, std::optional<json::value> body, Along<JobRunStarted> along);

  /// An event has happened that only its own room knows of.
  template <DescribedStruct T>
  void tell_record(std::string_view event, const T& record) {
    events_.tell(event, [&] { return record_of(record); });
  }
  /// A run has ended with that event.
  void tell_end(const JobRunUnderWayPointer& run, std::string_view event, const JobRun& row);

private:
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
  std::vector<JobRunUnderWayPointer> causes_of(std::string_view event, const json::object& record,
                                               const std::string& run_id) const;
  Task<> fire(ExtensionPointer job, JobOrder order);
  Task<> forget(std::string job_id);
  Task<> forget_due_times(std::string job_id);
  Task<> remember_due_time(std::string job_id, Timestamp due_at);
  Task<> set_due_times_back(Timestamp now);

  Database& database_;
  const Clock& clock_;
  Extensions& extensions_;
  Engine& engine_;
  JobRunner& runner_;
  Timestamp up_since_;  ///< or since when the clock was set back to before that
  Scheduler scheduler_;
  EventTriggers events_;
  JobRunUnderWayPointer ended_;                            ///< the run of whose end is being told
  std::map<std::string, std::string, std::less<>> armed_;  ///< by job: the text of its trigger
  Stop stopping_;
  bool closed_ = false;
  Aftermath aftermath_;
  Group work_;
};

}  // namespace agw
