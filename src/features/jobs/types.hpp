#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// What started a job's run.
enum class JobRunTrigger { manual, cron, event, webhook };
std::span<const EnumName> names(Tag<JobRunTrigger>);

/// The state of a job's run, or how it ended.
enum class JobRunStatus {
  queued,       ///< waits for the job's earlier run or for its thread
  started,      ///< active
  completed,    ///< ended successfully
  failed,       ///< `error` has the reason
  stopped,      ///< by a person, by the run that replaced it, or by the stop of the gateway
  skipped,      ///< did not run; `error` has the reason
  interrupted,  ///< was queued or active when the gateway was killed
};
std::span<const EnumName> names(Tag<JobRunStatus>);

/// Whether a run with this status has not ended.
constexpr bool is_open(JobRunStatus status) {
  return status == JobRunStatus::queued || status == JobRunStatus::started;
}

/// One run of a job, or the reason why there was none. Its id is also the `runId` of its events. `job_id` is only for
/// callers inside the gateway.
struct JobRun {
  std::string id;
  std::string job_id;
  std::string job;                       ///< current name of the job; if it was deleted, its name at the time
  std::optional<std::string> thread_id;  ///< of the output; none if nothing ran
  JobRunTrigger trigger{};
  bool dry = false;
  JobRunStatus status{};
  std::optional<Timestamp> due_at;  ///< cron only: the time that it ran for
  std::optional<Timestamp> started_at;
  std::optional<Timestamp> finished_at;
  std::optional<std::int64_t> duration_ms;
  std::optional<std::string> error;
  std::optional<json::object> usage;
  std::optional<double> cost_usd;
};
const Description& describe(Tag<JobRun>);

/// The query of `POST /run/:job`.
struct JobRunOptions {
  bool dry = false;  ///< tools report what they would do instead of doing it
};
const Description& describe(Tag<JobRunOptions>);

/// The response of `POST /run/:job`.
struct JobRunStarted {
  std::string run_id;  ///< not in the body, but its header field `X-Run-Id`
  std::string job;     ///< its name
  bool dry = false;
  std::string threadId;
  std::string status = "started";
};
const Description& describe(Tag<JobRunStarted>);

/// The query of `GET /jobs/:name/runs`.
struct JobRunFilter {
  Limit limit{20};
};
const Description& describe(Tag<JobRunFilter>);

/// A run, as in the list of jobs.
struct JobRunGlance {
  JobRunStatus status{};
  std::optional<std::int64_t> duration_ms;
};
const Description& describe(Tag<JobRunGlance>);

/// A row of `GET /jobs`.
struct JobSummary {
  std::string id;
  std::string name;
  std::string description;
  bool enabled = false;
  std::optional<JobRunTrigger> trigger;  ///< what starts it automatically
  std::optional<std::string> event;      ///< the event that starts it
  std::optional<std::string> schedule;   ///< its cron expression
  std::optional<std::string> timezone;   ///< none: the host's
  std::vector<Timestamp> next_due;       ///< the next five due times; empty if disabled or without a schedule
  std::optional<JobRun> last_run;
  std::optional<double> success_rate;     ///< of `recent_runs`: completed among completed and failed
  std::vector<JobRunGlance> recent_runs;  ///< the latest 20, newest first
};
const Description& describe(Tag<JobSummary>);

/// The record of the event `gateway.started`: the triggers of jobs are armed.
struct GatewayStarted {
  Timestamp started_at{};
};
const Description& describe(Tag<GatewayStarted>);

/// The query of `GET /cron`.
struct CronQuery {
  std::string expression;
  std::optional<std::string> timezone;  ///< an IANA name; default: the host's
  Limit limit{5};
};
const Description& describe(Tag<CronQuery>);

/// The response of `GET /cron`: when an expression is due next.
struct CronTimes {
  std::vector<Timestamp> next;  ///< as many as requested, or fewer if there are no more
};
const Description& describe(Tag<CronTimes>);

}  // namespace agw
