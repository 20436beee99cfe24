#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace agw {

/// Decompresses a complete brotli stream (RFC 7932) with `size` bytes of content. Loads libbrotlidec at the first call.
/// Throws std::runtime_error if the library is missing, or the stream is damaged or has another size.
/// Example: src/io/files/brotli_test.cpp: Brotli.RoundTrips
std::string brotli_decompressed(std::string_view stream, std::size_t size);

}  // namespace agw
