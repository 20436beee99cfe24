#include "features/jobs/routes.hpp"

#include "api/refusals.hpp"
#include "features/jobs/webhook_signature.hpp"

namespace agw {

namespace {

constexpr std::size_t shown_times = 5;

[[noreturn]] void refuse(const std::string& member, const std::string& message) {
  fail_validation({{.path = member, .message = member + " " + message}});
}

JobTiming read_timing(const CronQuery& query) {
  if (const auto problem = cron_problem(query.expression))
    refuse("expression", "must be a cron expression: " + *problem);
  auto timing = timing_of({.expression = query.expression, .timezone = query.timezone});
  if (!timing) refuse("timezone", "must be an IANA time zone such as Europe/Berlin");
  return std::move(*timing);
}

}  // namespace

Routes JobRoutes::routes() {
  return {
      post("/run/:job", "Run a job now; its output streams over the WebSocket", this, &JobRoutes::run)
          .query<JobRunOptions>()
          .answers<JobRunStarted>(202)
          .fails_with({400, 404, 409, 507})
          .executes(),
      post("/hooks/:name", "Run a job that has a webhook trigger; the body is handed to it", this, &JobRoutes::hook)
          .optional_object()
          .demands([this](const Request& request) { check_signature(request); })
          .answers<JobRunStarted>(202)
          .fails_with({400, 401, 404, 409, 413, 507})
          .executes(),
      get("/jobs", "List the jobs with their next due times and latest runs", this, &JobRoutes::list)
          .answers<std::vector<JobSummary>>(),
      get("/jobs/:name/runs", "List a job's runs, newest first", this, &JobRoutes::runs)
          .query<JobRunFilter>()
          .answers<std::vector<JobRun>>()
          .fails_with({400, 404}),
      post("/runs/:id/stop", "Stop a job's run", this, &JobRoutes::stop)
          .answers<JobRun>()
          .fails_with({404, 507})
          .executes(),
      get("/cron", "The next five times of a cron expression", this, &JobRoutes::cron)
          .query<CronQuery>()
          .answers<CronTimes>()
          .fails_with({400}),
  };
}

Task<Answer> JobRoutes::run(Request& request) {
  const auto job = jobs_.require(request.path("job"));
  const auto options = request.query<JobRunOptions>();
  co_return Answer::of(co_await jobs_.run(job, options.dry, request.along<JobRunStarted>(202)), 202);
}

void JobRoutes::check_signature(const Request& request) const {
  const auto hook = jobs_.find_hook(request.path("name"));
  if (!hook || !hook->secret) return;
  if (!is_signed(request.content, *hook->secret, request.header("x-hub-signature-256"))) {
    throw unauthorized();
  }
}

Task<Answer> JobRoutes::hook(Request& request) {
  auto hook = jobs_.find_hook(request.path("name"));
  if (!hook) throw job_not_found();
  std::optional<json::value> body;
  if (!request.content.empty()) body = request.body_object();
  const auto started = co_await jobs_.run_hook(*std::move(hook), std::move(body), request.along<JobRunStarted>(202));
  co_return Answer::of(started, 202);
}

Task<Answer> JobRoutes::list(Request&) { co_return Answer{.body = co_await jobs_.list_text()}; }

Task<Answer> JobRoutes::runs(Request& request) {
  const auto job = jobs_.require(request.path("name"));
  co_return Answer::of(co_await jobs_.runs_of(job, request.query<JobRunFilter>()));
}

Task<Answer> JobRoutes::stop(Request& request) { co_return Answer::of(co_await jobs_.stop_run(request.path("id"))); }

Task<Answer> JobRoutes::cron(Request& request) {
  if (!request.parameter("expression")) refuse("expression", "is required");
  const auto timing = read_timing(request.query<CronQuery>());
  co_return Answer::of(CronTimes{next_times(timing, clock_.now(), shown_times)});
}

}  // namespace agw
