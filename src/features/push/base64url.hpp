#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// Base64 with the alphabet for URLs (RFC 4648, section 5), without padding.
std::string to_base64url(std::string_view bytes);

/// The bytes, with or without padding; nullopt if `text` is anything else.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace agw
