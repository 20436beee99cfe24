#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agw {

/// The content of a whole brotli stream (RFC 7932), which has `size` bytes. libbrotlidec is loaded with the first call.
/// Throws std::runtime_error if it is missing, or the stream is damaged or has another size.
/// Example: src/io/files/brotli_test.cpp: Brotli.GivesBackWhatWasCompressed
std::string brotli_decompressed(std::string_view stream, std::size_t size);

}  // namespace agw
