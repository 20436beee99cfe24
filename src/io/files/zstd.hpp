#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// One zstd frame (RFC 8878) with its size. libzstd is loaded with the first call. Throws std::runtime_error if it is
/// missing or out of memory.
/// Example: src/io/files/zstd_test.cpp: Zstd.GivesBackWhatWasCompressed
std::string zstd_compressed(std::string_view content, int level);

/// The content of such a frame; nullopt if it is damaged or its content has more than `limit` bytes. Throws if libzstd
/// is missing.
std::optional<std::string> zstd_decompressed(std::string_view frame, std::size_t limit);

}  // namespace agw
