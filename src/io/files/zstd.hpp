#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// Compresses `content` to one zstd frame (RFC 8878) that states its size. Loads libzstd at the first call. Throws
/// std::runtime_error if it is missing or out of memory.
/// Example: src/io/files/zstd_test.cpp: Zstd.RoundTrips
std::string zstd_compressed(std::string_view content, int level);

/// Decompresses such a frame; nullopt if it is damaged or has more than `limit` bytes of content. Throws if libzstd is
/// missing.
std::optional<std::string> zstd_decompressed(std::string_view frame, std::size_t limit);

}  // namespace agw
