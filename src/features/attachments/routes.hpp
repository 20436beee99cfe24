#pragma once

#include "api/route.hpp"
#include "features/attachments/service.hpp"

namespace agw {

/// `/files`.
class AttachmentRoutes {
public:
  explicit AttachmentRoutes(Attachments& attachments) : attachments_(attachments) {}
  Routes routes();

private:
  Task<Answer> upload(Request& request);

  Attachments& attachments_;
};

}  // namespace agw
