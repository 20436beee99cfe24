#pragma once

#include <string_view>

namespace agw {

class Request;

/// Whether the client already has the version with this ETag: If-None-Match contains it, strong or weak, or is `*`.
bool has_version(const Request& request, std::string_view tag);

}  // namespace agw
