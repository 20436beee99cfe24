#include "api/route.hpp"
#include "features/filesystem/service.hpp"

namespace agw {

namespace {

Task<Response> list_host_directory(Filesystem& filesystem, Request& request) {
  co_return Response{.body = co_await filesystem.list_json(request.query<ListQuery>())};
}

Task<Response> search_host(Filesystem& filesystem, Request& request) {
  co_return request.respond(co_await filesystem.search(request.query<NameQuery>()));
}

Task<Response> list_programs(Filesystem& filesystem, const Request& request) {
  co_return request.respond(co_await filesystem.programs());
}

}  // namespace

Routes filesystem_routes(Filesystem& filesystem) {
  return {
      get("/filesystem/ls", "List the directories in a directory of the host", list_host_directory, filesystem)
          .query<ListQuery>()
          .responds<DirectoryListing>()
          .fails_with({400, 403, 404, 500}),
      get("/filesystem/search", "Search files and directories of the host by name", search_host, filesystem)
          .query<NameQuery>()
          .responds<NamesFound>()
          .fails_with({400, 403, 404, 500}),
      get("/filesystem/programs", "List other programs whose data can be taken over", list_programs, filesystem)
          .responds<std::vector<FoundProgram>>(),
  };
}

}  // namespace agw
