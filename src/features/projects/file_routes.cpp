#include "api/route.hpp"
#include "features/projects/files.hpp"

namespace agw {

namespace {

Task<Response> list_project_files(ProjectFiles& files, Request& request) {
  files.require(request.path("id"));
  co_return Response{.body = co_await files.list_json(request.path("id"), request.query<ProjectDirectoryQuery>())};
}

/// The content security policy prevents displayed files from running scripts.
Task<Response> show_project_file(ProjectFiles& files, Request& request) {
  files.require(request.path("id"));
  auto query = request.query<ProjectFileQuery>();
  if (!query.raw) co_return Response{.body = co_await files.read_json(request.path("id"), std::move(query))};
  co_return Response{.body = co_await files.read_bytes(request.path("id"), std::move(query)),
                     .content_type = "application/octet-stream",
                     .headers = {{"Content-Security-Policy", "sandbox"}}};
}

}  // namespace

Routes project_file_routes(ProjectFiles& files) {
  return {
      get("/projects/:id/files", "List the entries of a directory of a project", list_project_files, files)
          .query<ProjectDirectoryQuery>()
          .responds<ProjectDirectory>()
          .fails_with({400, 403, 404}),
      get("/projects/:id/file", "Read a range of a file of a project", show_project_file, files)
          .query<ProjectFileQuery>()
          .responds<ProjectFile>()
          .may_respond_with_bytes()
          .fails_with({400, 403, 404}),
  };
}

}  // namespace agw
