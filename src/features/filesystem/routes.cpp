#include "features/filesystem/routes.hpp"

namespace agw {

Routes FilesystemRoutes::routes() {
  return {
      get("/filesystem/ls", "List the directories in a directory of the host", this, &FilesystemRoutes::list)
          .query<ListQuery>()
          .answers<DirectoryListing>()
          .fails_with({400, 403, 404, 500}),
      get("/filesystem/search", "Search files and directories of the host by name", this, &FilesystemRoutes::search)
          .query<NameQuery>()
          .answers<NamesFound>()
          .fails_with({400, 403, 404, 500}),
  };
}

Task<Answer> FilesystemRoutes::list(Request& request) {
  co_return Answer::of(co_await filesystem_.list(request.query<ListQuery>()));
}

Task<Answer> FilesystemRoutes::search(Request& request) {
  co_return Answer::of(co_await filesystem_.search(request.query<NameQuery>()));
}

}  // namespace agw
