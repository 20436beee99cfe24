#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "cli/transfer/byte_source.hpp"

namespace agw::cli {

/// A file of a message.
struct SourceFile {
  std::string name;
  std::string type;  ///< empty: determined from the bytes
  std::string bytes;

  bool operator==(const SourceFile&) const = default;
};

/// The media type, determined from the bytes.
std::string type_of(std::string_view bytes);

/// The file with this content; nullopt if that is empty or not base64.
std::optional<SourceFile> file_of_base64(std::string name, std::string_view type, std::string_view data);

/// The file in `data:<type>;base64,…`; nullopt for other addresses.
std::optional<SourceFile> file_in_url(std::string name, std::string_view url);

/// The mode for the copy of a file: only the owner can access it; the execute permission is kept.
constexpr mode_t mode_like(mode_t mode) { return (mode & 0100) != 0 ? 0700 : 0600; }

/// Reads all bytes up to the limit for a file, and one more if there are more.
std::string content_of(const ByteSource& read);

}  // namespace agw::cli
