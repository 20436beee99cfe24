#pragma once

#include <string>
#include <string_view>

namespace agw {

/// Identifies content: the same 36 characters for the same bytes on every machine. It does not protect against
/// deliberate collisions.
std::string content_id(std::string_view content);

}  // namespace agw
