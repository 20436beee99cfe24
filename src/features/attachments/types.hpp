#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// A file uploaded for a chat.
struct Attachment {
  std::string id;
  std::string name;  ///< the original name; not a path on this host
  std::string mime;
  std::int64_t size = 0;  ///< bytes
};
const Description& describe(Tag<Attachment>);
/// The files as turns and events list them.
json::array attachment_list(const std::vector<Attachment>& attachments);

/// The query of `POST /files`.
struct UploadQuery {
  std::string name = "file";
  std::optional<std::string> id;  ///< chosen by the caller
};
const Description& describe(Tag<UploadQuery>);

}  // namespace agw
