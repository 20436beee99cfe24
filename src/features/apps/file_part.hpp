#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace agw {

/// The part of a file that a response contains.
struct FilePart {
  int status = 200;  ///< 206 for a part, 416 if the requested range is outside the file
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Reads a request's `Range` (RFC 9110, 14.2) for a file of `size` bytes. Returns the whole file if there is no range,
/// if it has several parts, or if it is malformed.
FilePart requested_part(std::optional<std::string_view> range, std::uint64_t size);

}  // namespace agw
