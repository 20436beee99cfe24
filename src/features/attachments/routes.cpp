#include "api/refusals.hpp"
#include "api/route.hpp"
#include "features/attachments/service.hpp"

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

}  // namespace

Routes attachment_routes(Attachments& attachments) {
  return {post("/files", "Upload a file for a chat: its bytes are the body", upload_file, attachments)
              .query<UploadQuery>()
              .raw_body_up_to(attachment_limit)
              .responds<Attachment>(201)
              .fails_with({400, 413, 507})};
}

}  // namespace agw
