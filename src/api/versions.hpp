#pragma once

#include <string_view>

namespace agw {

class Request;

/// Whether the client has the version with that ETag already: If-None-Match names it, as strong or weak, or is `*`.
bool has_version(const Request& request, std::string_view tag);

}  // namespace agw
