#include "features/projects/routes.hpp"

namespace agw {

Routes ProjectRoutes::routes() {
  return {
      get("/projects", "List projects, newest first", this, &ProjectRoutes::list).answers<std::vector<Project>>(),
      post("/projects", "Create a project of a directory in home", this, &ProjectRoutes::create)
          .body<NewProject>()
          .answers<Project>(201)
          .fails_with({400, 403, 404}),
      get("/projects/:id", "Show a project", this, &ProjectRoutes::read).answers<Project>().fails_with({404}),
      patch("/projects/:id", "Change a project", this, &ProjectRoutes::change)
          .body<ProjectChange>()
          .answers<Project>()
          .like({{"trusted", true}})
          .fails_with({400, 403, 404}),
      remove("/projects/:id", "Delete a project; its directory stays", this, &ProjectRoutes::erase)
          .answers_nothing()
          .fails_with({404}),
  };
}

Answer ProjectRoutes::list(const Request&) {
  Answer answer{.body = "["};
  for (const auto& project : projects_.list()) {
    if (answer.body.size() > 1) answer.body += ',';
    write_json(answer.body, *project);
  }
  answer.body += ']';
  return answer;
}

Task<Answer> ProjectRoutes::create(Request& request) {
  const auto made = co_await projects_.create(request.body<NewProject>(), request.along<Project>(201));
  co_return Answer::of(*made, 201);
}

Task<Answer> ProjectRoutes::read(Request& request) { co_return Answer::of(*projects_.require(request.path("id"))); }

Task<Answer> ProjectRoutes::change(Request& request) {
  const auto& id = request.path("id");
  projects_.require(id);
  co_return Answer::of(*co_await projects_.change(id, request.body<ProjectChange>()));
}

Task<Answer> ProjectRoutes::erase(Request& request) {
  co_await projects_.remove(request.path("id"));
  co_return Answer::no_content();
}

}  // namespace agw
