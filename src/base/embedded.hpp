#pragma once

#include <span>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

/// A file of the project that is compiled into the binary.
struct EmbeddedFile {
  std::string_view path;     ///< relative to the project's folder, such as `share/models.jsonc`
  std::string_view content;  ///< lives as long as the process
};

/// All embedded files, sorted by path.
std::span<const EmbeddedFile> embedded_files();

/// The content of one of them. `path` must be right.
std::string_view embedded_file(std::string_view path);

/// The value in one of them, in JSON with comments.
json::value embedded_json(std::string_view path);

}  // namespace agw
