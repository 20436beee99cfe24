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

/// How far a run has come, or how it ended.
enum class JobRunStatus {
  queued,       ///< waits: for the job's run before it, or for its thread
  started,      ///< active
  completed,    ///< ended well
  failed,       ///< `error` says why
  stopped,      ///< by a person, by the run that replaced it, or by the gateway's stop
  skipped,      ///< did not run; `error` says why
  interrupted,  ///< was waiting or active when the gateway was killed
};
std::span<const EnumName> names(Tag<JobRunStatus>);

/// One run of a job, or the reason why there was none. Its id is also the `runId` of its events. `job_id` is for the
/// gateway's own callers.
struct JobRun {
  std::string id;
  std::string job_id;
  std::string job;                       ///< its name; if the job was deleted, the name at the time
  std::optional<std::string> thread_id;  ///< of its output; none if nothing ran
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
  bool dry = false;  ///< tools say what they would do instead of doing it
};
const Description& describe(Tag<JobRunOptions>);

/// The response of `POST /run/:job`.
struct JobRunStarted {
  std::string job;  ///< its name
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
  std::optional<JobRunTrigger> trigger;  ///< what starts it by itself
  std::optional<std::string> event;      ///< that starts it
  std::optional<std::string> schedule;   ///< its cron expression
  std::optional<std::string> timezone;   ///< none: the host's
  std::vector<Timestamp> next_due;       ///< the next five times; none of a job that is disabled or has no schedule
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
  std::vector<Timestamp> next;  ///< as many as were asked for, or fewer if there are no more
};
const Description& describe(Tag<CronTimes>);

}  // namespace agw
