#pragma once

#include <span>
#include <string_view>

namespace agw {

/// A file of the project that is compiled into the binary.
struct EmbeddedFile {
  std::string_view path;     ///< relative to the project's folder, such as `share/prices.yaml`
  std::string_view content;  ///< lives as long as the process
};

/// All embedded files, sorted by path.
std::span<const EmbeddedFile> embedded_files();

}  // namespace agw
