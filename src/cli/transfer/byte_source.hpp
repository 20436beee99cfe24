#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agw::cli {

/// Returns the next bytes of a file; empty at its end. A view is valid until the next call.
using ByteSource = std::function<std::string_view()>;

// Another program's directory may contain anything. Nothing is opened before it is known to be a regular file: opening
// a FIFO would wait for a writer.

/// Why `path` cannot be read as a file; empty if it can, or if nothing is there. A symlink counts as what it leads to.
std::string why_no_file(const std::filesystem::path& path);

/// Why a symlink is not followed: what it leads to is not below one of `roots`. Empty for anything else.
std::string why_outside(const std::filesystem::path& path, std::initializer_list<std::filesystem::path> roots);

/// Both, for a file that was found in a folder.
std::string why_unread(const std::filesystem::path& path, std::initializer_list<std::filesystem::path> roots);

/// The bytes of a file. Throws std::runtime_error that names it if it is no regular file or cannot be read.
ByteSource bytes_of_file(const std::filesystem::path& path);

/// A file of an export, which is either in a folder or in an archive.
struct ExportedFile {
  std::string path;  ///< within the folder or archive; for messages and by its last name for choosing
  std::uint64_t size = 0;
  ByteSource read;
};

/// Calls `each` with the files of a folder, without those of `unread_in`, of a zip, tar or tar.zst archive, or with the
/// file itself if it is neither, one after another. `each` may read the file, wholly or in part, or ignore it. Throws
/// std::runtime_error if the path cannot be read; a damaged archive is reported at the file where the damage is.
void for_each_file(const std::filesystem::path& path, const std::function<void(const ExportedFile& file)>& each);

/// The entries of an export's folder that are not read, with the reasons: symlinks to folders or out of it, and what is
/// no regular file.
std::vector<std::pair<std::string, std::string>> unread_in(const std::filesystem::path& folder);

}  // namespace agw::cli
