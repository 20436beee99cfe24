#include "api/refusals.hpp"
#include "api/route.hpp"
#include "features/attachments/service.hpp"
#include "models/picture.hpp"

namespace agw {

namespace {

Task<Response> upload_file(Attachments& attachments, Request& request) {
  auto query = request.query<UploadQuery>();
  if (request.content.empty()) throw body_required();
  const auto content_type = request.header("content-type").value_or("");
  auto made = co_await attachments.add(std::move(query.name), std::string(content_type), std::move(request.content),
                                       request.in_transaction<Attachment>(), std::move(query.id));
  co_return request.respond(made);
}

/// A file's own type is not trusted. The policy keeps displayed files from running scripts.
Task<Response> download_file(Attachments& attachments, Request& request) {
  const auto found = co_await attachments.require({request.path("id")});
  auto bytes = co_await attachments.bytes(found.front());
  if (!bytes) throw file_not_found();
  const auto picture = mime_of_picture(*bytes);
  co_return Response{.body = *std::move(bytes),
                     .content_type = picture.empty() ? "application/octet-stream" : picture,
                     .headers = {{"Content-Security-Policy", "sandbox"},
                                 {"Content-Disposition", picture.empty() ? "attachment" : "inline"}}};
}

}  // namespace

Routes attachment_routes(Attachments& attachments) {
  return {post("/files", "Upload a file for a chat: its bytes are the body", upload_file, attachments)
              .query<UploadQuery>()
              .raw_body_up_to(attachment_limit)
              .responds<Attachment>(201)
              .fails_with({400, 413, 507}),
          get("/files/:id", "Download a file of a chat: its bytes are the body", download_file, attachments)
              .may_respond_with_bytes()
              .fails_with({404})};
}

}  // namespace agw
