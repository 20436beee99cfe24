#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace agw {

/// The part of a file that a request is answered with.
struct FilePart {
  int status = 200;  ///< 206 for a part, 416 where the file has none of what was asked for
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Reads a request's `Range` (RFC 9110, 14.2) for a file of `size` bytes. The whole file answers a request without one,
/// one for several parts, and one that cannot be read.
FilePart wanted_part(std::optional<std::string_view> range, std::uint64_t size);

}  // namespace agw
