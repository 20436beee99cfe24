#include "api/refusals.hpp"
#include "api/route.hpp"
#include "features/jobs/service.hpp"
#include "features/jobs/triggers.hpp"

namespace agw {

namespace {

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

Response respond_started(const Request& request, JobRunStarted started) {
  auto response = request.respond(started);
  response.headers.emplace_back("X-Run-Id", std::move(started.run_id));
  return response;
}

Task<Response> start_job(Jobs& jobs, Request& request) {
  const auto job = jobs.require(request.path("job"));
  const auto options = request.query<JobRunOptions>();
  auto started = co_await jobs.run(job, options.dry, request.in_transaction<JobRunStarted>());
  co_return respond_started(request, std::move(started));
}

void check_signature(Jobs& jobs, const Request& request) {
  const auto hook = jobs.find_hook(request.path("name"));
  if (!hook || !hook->secret) return;
  if (!is_signed(request.content, *hook->secret, request.header("x-hub-signature-256"))) {
    throw unauthorized();
  }
}

Task<Response> start_hooked_job(Jobs& jobs, Request& request) {
  auto hook = jobs.find_hook(request.path("name"));
  if (!hook) throw job_not_found();
  std::optional<json::value> body;
  if (!request.content.empty()) body = request.body_object();
  auto started = co_await jobs.run_hook(*std::move(hook), std::move(body), request.in_transaction<JobRunStarted>());
  co_return respond_started(request, std::move(started));
}

Task<Response> list_jobs(Jobs& jobs, Request&) { co_return Response{.body = co_await jobs.list_text()}; }

Task<Response> list_job_runs(Jobs& jobs, Request& request) {
  const auto job = jobs.require(request.path("name"));
  co_return request.respond(co_await jobs.runs_of(job, request.query<JobRunFilter>()));
}

Task<Response> stop_job_run(Jobs& jobs, Request& request) {
  co_return request.respond(co_await jobs.stop_run(request.path("id")));
}

Task<Response> show_cron_times(const Clock& clock, Request& request) {
  if (!request.parameter("expression")) refuse("expression", "is required");
  const auto query = request.query<CronQuery>();
  const auto timing = read_timing(query);
  co_return request.respond(CronTimes{next_times(timing, clock.now(), static_cast<std::size_t>(query.limit.value))});
}

}  // namespace

Routes job_routes(Jobs& jobs, const Clock& clock) {
  return {
      post("/run/:job", "Run a job now; its output streams over the WebSocket", start_job, jobs)
          .query<JobRunOptions>()
          .responds<JobRunStarted>(202)
          .fails_with({400, 404, 409, 507})
          .begins_a_run(),
      post("/hooks/:name", "Run a job that has a webhook trigger; the body is handed to it", start_hooked_job, jobs)
          .optional_object()
          .authorized_by([&jobs](const Request& request) { check_signature(jobs, request); })
          .responds<JobRunStarted>(202)
          .fails_with({400, 401, 404, 409, 413, 507})
          .begins_a_run(),
      get("/jobs", "List the jobs with their next due times and latest runs", list_jobs, jobs)
          .responds<std::vector<JobSummary>>(),
      get("/jobs/:name/runs", "List a job's runs, newest first", list_job_runs, jobs)
          .query<JobRunFilter>()
          .responds<std::vector<JobRun>>()
          .fails_with({400, 404}),
      post("/runs/:id/stop", "Stop a job's run", stop_job_run, jobs)
          .responds<JobRun>()
          .fails_with({404, 507})
          .is_about(About::run_of_job)
          .executes(),
      get("/cron", "The next times of a cron expression", show_cron_times, clock)
          .query<CronQuery>()
          .responds<CronTimes>()
          .fails_with({400}),
  };
}

}  // namespace agw
