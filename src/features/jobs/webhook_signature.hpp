#pragma once

#include <optional>
#include <string_view>

namespace agw {

/// Whether `signature` (`sha256=<hex digits>`, as in `X-Hub-Signature-256`) is that of `body` under `secret`. Compared
/// in constant time.
bool is_signed(std::string_view body, std::string_view secret, std::optional<std::string_view> signature);

}  // namespace agw
