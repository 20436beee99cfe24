#include "features/attachments/routes.hpp"

#include "api/refusals.hpp"

namespace agw {

Routes AttachmentRoutes::routes() {
  return {post("/files", "Upload a file for a chat: its bytes are the body", this, &AttachmentRoutes::upload)
              .query<UploadQuery>()
              .takes_bytes(attachment_limit)
              .answers<Attachment>(201)
              .fails_with({400, 413, 507})};
}

Task<Answer> AttachmentRoutes::upload(Request& request) {
  auto query = request.query<UploadQuery>();
  if (request.content.empty()) throw body_required();
  const auto content_type = request.header("content-type").value_or("");
  auto made = co_await attachments_.add(std::move(query.name), std::string(content_type), std::move(request.content),
                                        request.along<Attachment>(201));
  co_return Answer::of(made, 201);
}

}  // namespace agw
