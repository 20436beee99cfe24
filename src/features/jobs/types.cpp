#include "features/jobs/types.hpp"

#include "base/json/describe.hpp"

namespace agw {

BOOST_DESCRIBE_ENUM(JobRunTrigger, manual, cron, event, webhook)
std::span<const EnumName> names(Tag<JobRunTrigger>) { return enum_names<JobRunTrigger>(); }

BOOST_DESCRIBE_ENUM(JobRunStatus, queued, started, completed, failed, stopped, skipped, interrupted)
std::span<const EnumName> names(Tag<JobRunStatus>) { return enum_names<JobRunStatus>(); }

BOOST_DESCRIBE_STRUCT(JobRun, (),
                      (id, job, thread_id, trigger, dry, status, due_at, started_at, finished_at, duration_ms, error,
                       usage, cost_usd))
constexpr auto rules(Tag<JobRun>) {
  return std::tuple{RuleFor<&JobRun::id>{{.about = "also the runId of its events"}},
                    RuleFor<&JobRun::job>{{.about = "the job's name now; of a deleted job, as it was then"}},
                    RuleFor<&JobRun::thread_id>{{.about = "where its output is; null where nothing ran"}},
                    RuleFor<&JobRun::due_at>{{.about = "the time of its schedule that it ran for"}},
                    RuleFor<&JobRun::error>{{.about = "why it failed or did not run"}}};
}
const Description& describe(Tag<JobRun>) { return description_of<JobRun>("JobRun"); }

BOOST_DESCRIBE_STRUCT(JobRunOptions, (), (dry))
constexpr auto rules(Tag<JobRunOptions>) {
  return std::tuple{
      RuleFor<&JobRunOptions::dry>{{.about = "tools say what they would do instead of doing it", .has_default = true}}};
}
const Description& describe(Tag<JobRunOptions>) { return description_of<JobRunOptions>("JobRunOptions"); }

BOOST_DESCRIBE_STRUCT(JobRunStarted, (), (job, dry, threadId, status))
const Description& describe(Tag<JobRunStarted>) { return description_of<JobRunStarted>("JobRunStarted"); }

BOOST_DESCRIBE_STRUCT(JobRunFilter, (), (limit))
constexpr auto rules(Tag<JobRunFilter>) {
  return std::tuple{RuleFor<&JobRunFilter::limit>{{.about = "20 when omitted"}}};
}
const Description& describe(Tag<JobRunFilter>) { return description_of<JobRunFilter>("JobRunFilter"); }

BOOST_DESCRIBE_STRUCT(JobRunGlance, (), (status, duration_ms))
const Description& describe(Tag<JobRunGlance>) { return description_of<JobRunGlance>("JobRunGlance"); }

BOOST_DESCRIBE_STRUCT(JobSummary, (),
                      (id, name, description, enabled, trigger, event, schedule, timezone, next_due, last_run,
                       success_rate, recent_runs))
constexpr auto rules(Tag<JobSummary>) {
  return std::tuple{RuleFor<&JobSummary::trigger>{{.about = "what starts it by itself; null where nothing does"}},
                    RuleFor<&JobSummary::event>{{.about = "the event that starts it"}},
                    RuleFor<&JobSummary::next_due>{{.about = "the next five times"}},
                    RuleFor<&JobSummary::success_rate>{{.about = "0 to 1, of the recent runs; null where none ended"}},
                    RuleFor<&JobSummary::recent_runs>{{.about = "the latest 20, newest first"}}};
}
const Description& describe(Tag<JobSummary>) { return description_of<JobSummary>("JobSummary"); }

BOOST_DESCRIBE_STRUCT(GatewayStarted, (), (started_at))
const Description& describe(Tag<GatewayStarted>) { return description_of<GatewayStarted>("GatewayStarted"); }

BOOST_DESCRIBE_STRUCT(CronQuery, (), (expression, timezone, limit))
constexpr auto rules(Tag<CronQuery>) {
  return std::tuple{RuleFor<&CronQuery::expression>{{.about = "5 fields, 6 with seconds first, or a macro"}},
                    RuleFor<&CronQuery::timezone>{{.about = "an IANA name; the host's when omitted"}},
                    RuleFor<&CronQuery::limit>{{.about = "how many times; 5 when omitted", .has_default = true}}};
}
const Description& describe(Tag<CronQuery>) { return description_of<CronQuery>("CronQuery"); }

BOOST_DESCRIBE_STRUCT(CronTimes, (), (next))
const Description& describe(Tag<CronTimes>) { return description_of<CronTimes>("CronTimes"); }

}  // namespace agw
