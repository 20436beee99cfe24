#pragma once

#include <string_view>

namespace agw {

/// The Content-Type of a file by the ending of its name, in either case; bytes for an unknown one.
std::string_view content_type_of(std::string_view path);

}  // namespace agw
