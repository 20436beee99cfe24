#include "api/refusals.hpp"
#include "api/route.hpp"
#include "base/json/array_text.hpp"
#include "features/projects/service.hpp"

namespace agw {

namespace {

Task<Response> list_projects(Projects& projects, Request&) {
  ArrayText<Project> array;
  const auto listed = projects.list();
  for (const auto& known : listed) {
    const auto project = known->trusted ? co_await projects.verified(known->id) : known;
    if (project) array(*project);
  }
  co_return Response{.body = array.close()};
}

Task<Response> create_project(Projects& projects, Request& request) {
  const auto made = co_await projects.create(request.body<NewProject>(), request.in_transaction<Project>());
  co_return request.respond(*made);
}

Task<Response> show_project(Projects& projects, Request& request) {
  projects.require(request.path("id"));
  const auto project = co_await projects.verified(request.path("id"));
  if (!project) throw project_not_found();
  co_return request.respond(*project);
}

Task<Response> change_project(Projects& projects, Request& request) {
  const auto& id = request.path("id");
  projects.require(id);
  co_return request.respond(*co_await projects.change(id, request.body<ProjectChange>()));
}

Task<Response> delete_project(Projects& projects, Request& request) {
  co_await projects.remove(request.path("id"));
  co_return Response::no_content();
}

}  // namespace

Routes project_routes(Projects& projects) {
  return {
      get("/projects", "List projects, newest first", list_projects, projects).responds<std::vector<Project>>(),
      post("/projects", "Create a project of a directory in home", create_project, projects)
          .body<NewProject>()
          .responds<Project>(201)
          .fails_with({400, 403, 404}),
      get("/projects/:id", "Show a project", show_project, projects).responds<Project>().fails_with({404}),
      patch("/projects/:id", "Change a project", change_project, projects)
          .body<ProjectChange>()
          .responds<Project>()
          .with_example({{"trusted", true}})
          .fails_with({400, 403, 404}),
      remove("/projects/:id", "Delete a project; its directory stays", delete_project, projects)
          .responds_no_content()
          .fails_with({404}),
  };
}

}  // namespace agw
