#pragma once

#include <string>
#include <string_view>

namespace agw {

/// Compresses `content` as a gzip file (RFC 1952).
/// Example: src/io/files/gzip_test.cpp: Gzip.IsWhatOthersUnpack
std::string gzip_compressed(std::string_view content);

}  // namespace agw
