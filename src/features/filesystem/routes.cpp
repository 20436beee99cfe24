#include "features/filesystem/routes.hpp"

#include "features/filesystem/service.hpp"

namespace agw {

namespace {

Task<Response> list_host_directory(Filesystem& filesystem, Request& request) {
  co_return request.respond(co_await filesystem.list(request.query<ListQuery>()));
}

Task<Response> search_host(Filesystem& filesystem, Request& request) {
  co_return request.respond(co_await filesystem.search(request.query<NameQuery>()));
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
  };
}

}  // namespace agw
