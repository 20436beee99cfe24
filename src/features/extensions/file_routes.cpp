#include "api/route.hpp"
#include "features/extensions/files.hpp"
#include "features/extensions/service.hpp"

namespace agw {

namespace {

/// Binary content has a type that browsers do not sniff. The policy keeps displayed files from running scripts.
Response raw_response(ExtensionFile file) {
  const bool is_text = file.encoding == FileEncoding::utf_8;
  return {.body = std::move(file.content),
          .content_type = is_text ? "text/plain; charset=utf-8" : "application/octet-stream",
          .headers = {{"Content-Security-Policy", "sandbox"}}};
}

Task<Response> list_extension_files(ExtensionFiles& files, Request& request) {
  co_return request.respond(co_await files.list(co_await files.open(request.path("id"))));
}

Task<Response> show_extension_file(ExtensionFiles& files, Request& request) {
  auto opened = co_await files.open(request.path("id"));
  const auto query = request.query<ExtensionFileQuery>();
  auto file = co_await files.read(std::move(opened), query.path);
  co_return query.raw ? raw_response(std::move(file)) : request.respond(encoded(std::move(file)));
}

Task<Response> show_disk_config(ExtensionFiles& files, Request& request) {
  co_return Response{.body = to_json(co_await files.config(request.path("id")))};
}

Task<Response> replace_disk_config(ExtensionFiles& files, Request& request) {
  auto extension = files.require_config(request.path("id"));
  auto config = co_await files.overwrite(std::move(extension), request.body_object());
  co_return request.respond(WrittenConfig{.config = std::move(config)});
}

Task<Response> reseed_extensions(Extensions& extensions, Request& request) {
  co_return request.respond(Reseeded{.warnings = co_await extensions.reseed()});
}

}  // namespace

Routes extension_file_routes(Extensions& extensions, ExtensionFiles& files) {
  return {
      get("/extensions/:id/files", "List the files of an extension's directory", list_extension_files, files)
          .responds<ExtensionFileList>()
          .fails_with({400, 404, 500}),
      get("/extensions/:id/file", "Read a file of an extension's directory", show_extension_file, files)
          .query<ExtensionFileQuery>()
          .responds<ExtensionFile>()
          .may_respond_with_bytes()
          .fails_with({400, 403, 404, 413}),
      get("/extensions/:id/disk-config", "Show agent.yaml or job.yaml as it is on disk", show_disk_config, files)
          .responds<json::object>()
          .fails_with({400, 403, 404, 413}),
      patch("/extensions/:id/disk-config", "Replace agent.yaml or job.yaml, and the definition with it",
            replace_disk_config, files)
          .any_object()
          .responds<WrittenConfig>()
          .fails_with({400, 403, 404, 500, 507}),
      post("/reseed", "Bring in what is shipped, and what was edited on disk", reseed_extensions, extensions)
          .responds<Reseeded>()
          .fails_with({507}),
  };
}

}  // namespace agw
