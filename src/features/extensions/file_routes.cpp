#include "features/extensions/file_routes.hpp"

#include "features/extensions/files.hpp"
#include "features/extensions/service.hpp"

namespace agw {

namespace {

/// What is not text is not for browsers to guess at. The policy keeps what they show all the same from doing anything.
Answer raw_answer(ExtensionFile file) {
  const bool is_text = file.encoding == FileEncoding::utf_8;
  return {.body = std::move(file.content),
          .content_type = is_text ? "text/plain; charset=utf-8" : "application/octet-stream",
          .headers = {{"Content-Security-Policy", "sandbox"}}};
}

}  // namespace

Routes ExtensionFileRoutes::routes() {
  return {
      get("/extensions/:id/files", "List the files of an extension's directory", this, &ExtensionFileRoutes::list)
          .answers<ExtensionFileList>()
          .fails_with({400, 404, 500}),
      get("/extensions/:id/file", "Read a file of an extension's directory", this, &ExtensionFileRoutes::read)
          .query<ExtensionFileQuery>()
          .answers<ExtensionFile>()
          .fails_with({400, 403, 404, 413}),
      get("/extensions/:id/disk-config", "Show agent.yaml or job.yaml as it is on disk", this,
          &ExtensionFileRoutes::config)
          .answers<json::object>()
          .fails_with({400, 403, 404, 413}),
      patch("/extensions/:id/disk-config", "Replace agent.yaml or job.yaml, and the definition with it", this,
            &ExtensionFileRoutes::overwrite)
          .any_object()
          .answers<WrittenConfig>()
          .fails_with({400, 403, 404, 500, 507}),
      post("/reseed", "Bring in what is shipped, and what was edited on disk", this, &ExtensionFileRoutes::reseed)
          .answers<Reseeded>()
          .fails_with({507}),
  };
}

Task<Answer> ExtensionFileRoutes::list(Request& request) {
  co_return Answer::of(co_await files_.list(co_await files_.open(request.path("id"))));
}

Task<Answer> ExtensionFileRoutes::read(Request& request) {
  auto opened = co_await files_.open(request.path("id"));
  const auto query = request.query<ExtensionFileQuery>();
  auto file = co_await files_.read(std::move(opened), query.path);
  co_return query.raw ? raw_answer(std::move(file)) : Answer::of(encoded(std::move(file)));
}

Task<Answer> ExtensionFileRoutes::config(Request& request) {
  co_return Answer{.body = to_json(co_await files_.config(request.path("id")))};
}

Task<Answer> ExtensionFileRoutes::overwrite(Request& request) {
  auto extension = files_.require_config(request.path("id"));
  auto config = co_await files_.overwrite(std::move(extension), request.body_object());
  co_return Answer::of(WrittenConfig{.config = std::move(config)});
}

Task<Answer> ExtensionFileRoutes::reseed(Request&) {
  co_return Answer::of(Reseeded{.warnings = co_await extensions_.reseed()});
}

}  // namespace agw
