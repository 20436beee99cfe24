#include "features/apps/routes.hpp"

#include "features/placements/service.hpp"

namespace agw {

namespace {

/// The part of a target before the app's own path: the first three segments, unchanged.
std::string prefix_of(std::string_view target) {
  std::size_t end = 0;
  for (int segment = 0; segment < 3; ++segment) end = target.find('/', end + 1);
  return std::string(target.substr(0, end));
}

Task<Response> list_apps(Apps& apps, Request& request) { co_return request.respond(apps.list()); }

Task<Response> show_app(Apps& apps, Request& request) { co_return request.respond(apps.show(request.path("name"))); }

Task<Response> start_app(Apps& apps, Request& request) {
  co_return request.respond(co_await apps.start(request.path("name")));
}

Task<Response> stop_app(Apps& apps, Request& request) {
  co_return request.respond(co_await apps.stop(request.path("name")));
}

Task<Response> restart_app(Apps& apps, Request& request) {
  co_return request.respond(co_await apps.restart(request.path("name")));
}

Task<Response> show_log(Apps& apps, Request& request) {
  const auto& name = request.path("name");
  apps.show(name);
  const auto count = static_cast<std::size_t>(request.query<AppLogFilter>().limit.value);
  co_return request.respond(apps.log(name, count));
}

}  // namespace

Routes AppRoutes::routes() {
  Routes table{
      get("/apps", "List apps, newest first", list_apps, apps_).responds<std::vector<App>>(),
      get("/apps/:name", "Show an app", show_app, apps_).responds<App>().fails_with({404}),
      post("/apps/:name/start", "Start an app's server", start_app, apps_)
          .responds<App>()
          .executes()
          .is_about(About::app)
          .fails_with({400, 404, 500}),
      post("/apps/:name/stop", "Stop an app's server", stop_app, apps_)
          .responds<App>()
          .executes()
          .is_about(About::app)
          .fails_with({400, 404}),
      post("/apps/:name/restart", "Stop an app's server and start it again", restart_app, apps_)
          .responds<App>()
          .executes()
          .is_about(About::app)
          .fails_with({400, 404, 500}),
      get("/apps/:name/logs", "Show the latest lines of an app's log, oldest first", show_log, apps_)
          .query<AppLogFilter>()
          .responds<std::vector<AppLogLine>>()
          .is_about(About::app)
          .fails_with({400, 404}),
      proxy("/apps/:name/proxy/*", "What an app serves", &AppRoutes::forward, *this),
  };
  if (const auto* placements = apps_.placements()) table.push_back(connection(*placements));
  return table;
}

/// The route by which other nodes of a cluster connect to an app.
Route AppRoutes::connection(const Placements& placements) {
  return proxy("/cluster/apps/:id", "Connect to an app that runs at this node", &AppRoutes::connect, *this)
      .needs_no_token()
      .authorized_by([&placements](const Request& request) { placements.others().check_node(request); });
}

Task<> AppRoutes::connect(Request& request, ProxyStream& stream) {
  co_await proxy_.connect(stream, apps_.endpoint_here(request.path("id")));
}

Task<> AppRoutes::forward(Request& request, ProxyStream& stream) {
  const auto& name = request.path("name");
  if (auto root = co_await apps_.static_root(name)) {
    co_return co_await files_.serve(request, stream, *std::move(root));
  }
  co_await proxy_.forward(request, stream, apps_.running_endpoint(name), prefix_of(stream.target()));
}

}  // namespace agw
