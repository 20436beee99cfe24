#pragma once

#include <string_view>

namespace agw {

/// The Content-Type for the extension of a file name, in any case of letters; `application/octet-stream` if unknown.
std::string_view content_type_of(std::string_view path);

}  // namespace agw
