#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace agw::cli {

/// Returns the next bytes of a file; empty at its end. A view is valid until the next call.
using ByteSource = std::function<std::string_view()>;

/// The bytes of a file. Throws std::runtime_error that names it if it is no regular file or cannot be read.
ByteSource bytes_of_file(const std::filesystem::path& path);

/// A file of an export, which is either in a folder or in an archive.
struct ExportedFile {
  std::string path;  ///< within the folder or archive; for messages and by its last name for choosing
  std::uint64_t size = 0;
  ByteSource read;
};

/// Calls `each` with the files of a folder, of a zip, tar or tar.zst archive, or with the file itself if it is neither,
/// one after another. `each` may read the file, wholly or in part, or ignore it. Throws std::runtime_error if the path
/// cannot be read; a damaged archive is reported at the file where the damage is.
void for_each_file(const std::filesystem::path& path, const std::function<void(const ExportedFile& file)>& each);

}  // namespace agw::cli
