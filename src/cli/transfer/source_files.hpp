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
  std::string type;  ///< empty: to be found out from the bytes
  std::string bytes;

  bool operator==(const SourceFile&) const = default;
};

/// The media type that the bytes look like.
std::string type_of(std::string_view bytes);

/// The file in `data:<type>;base64,…`; no value for any other address.
std::optional<SourceFile> file_in_url(std::string name, std::string_view url);

/// The mode of a file's copy, which is its owner's only: whether it can be run is kept.
constexpr mode_t mode_like(mode_t mode) { return (mode & 0100) != 0 ? 0700 : 0600; }

/// All bytes that a file may have, and one more if there are more.
std::string content_of(const ByteSource& read);

}  // namespace agw::cli
