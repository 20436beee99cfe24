#include "features/apps/routes.hpp"

namespace agw {

namespace {

/// What of a target stands before the app's own path: three segments, as they were sent.
std::string prefix_of(std::string_view target) {
  std::size_t end = 0;
  for (int segment = 0; segment < 3; ++segment) end = target.find('/', end + 1);
  return std::string(target.substr(0, end));
}

}  // namespace

Routes AppRoutes::routes() {
  return {
      get("/apps", "List apps, newest first", this, &AppRoutes::list).answers<std::vector<App>>(),
      get("/apps/:name", "Show an app", this, &AppRoutes::show).answers<App>().fails_with({404}),
      post("/apps/:name/start", "Start an app's server", this, &AppRoutes::start)
          .answers<App>()
          .executes()
          .fails_with({400, 404, 500}),
      post("/apps/:name/stop", "Stop an app's server", this, &AppRoutes::stop)
          .answers<App>()
          .executes()
          .fails_with({400, 404}),
      post("/apps/:name/restart", "Stop an app's server and start it again", this, &AppRoutes::restart)
          .answers<App>()
          .executes()
          .fails_with({400, 404, 500}),
      get("/apps/:name/logs", "Show the latest lines of an app's log, oldest first", this, &AppRoutes::logs)
          .query<AppLogFilter>()
          .answers<std::vector<AppLogLine>>()
          .fails_with({400, 404}),
      pass_on_any("/apps/:name/proxy/*", "What an app serves", this, &AppRoutes::pass_on),
  };
}

Task<Answer> AppRoutes::list(Request&) { co_return Answer::of(apps_.list()); }

Task<Answer> AppRoutes::show(Request& request) { co_return Answer::of(apps_.show(request.path("name"))); }

Task<Answer> AppRoutes::start(Request& request) { co_return Answer::of(co_await apps_.start(request.path("name"))); }

Task<Answer> AppRoutes::stop(Request& request) { co_return Answer::of(co_await apps_.stop(request.path("name"))); }

Task<Answer> AppRoutes::restart(Request& request) {
  co_return Answer::of(co_await apps_.restart(request.path("name")));
}

Task<Answer> AppRoutes::logs(Request& request) {
  const auto& name = request.path("name");
  apps_.show(name);
  const auto count = static_cast<std::size_t>(request.query<AppLogFilter>().limit.value);
  co_return Answer::of(apps_.log(name, count));
}

Task<> AppRoutes::pass_on(Request& request, Exchange& exchange) {
  const auto& name = request.path("name");
  if (auto root = co_await apps_.static_root(name)) {
    co_return co_await files_.serve(request, exchange, *std::move(root));
  }
  co_await proxy_.pass(request, exchange, apps_.running_port(name), prefix_of(exchange.target()));
}

}  // namespace agw
