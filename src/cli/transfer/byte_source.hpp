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

// Another program's directory may contain anything. Only regular files are opened: opening a FIFO would wait for a
// writer.

/// Why `path` cannot be read as a file; empty if it can, or if it does not exist. Follows symlinks.
std::string why_no_file(const std::filesystem::path& path);

/// Why a symlink is not followed: its target is not below one of `roots`. Empty for other entries.
std::string why_outside(const std::filesystem::path& path, std::initializer_list<std::filesystem::path> roots);

/// Both checks, for a file found in a folder.
std::string why_unread(const std::filesystem::path& path, std::initializer_list<std::filesystem::path> roots);

/// Reads a file. Throws std::runtime_error that names it if it is not a regular file or cannot be read.
ByteSource bytes_of_file(const std::filesystem::path& path);

/// Likewise; of a file that zstd has compressed (`.zst`), the content.
ByteSource unpacked_bytes_of_file(const std::filesystem::path& path);

/// Whether a file has this extension, or had it before zstd compressed it: `rollout.jsonl.zst`.
bool has_extension(const std::filesystem::path& path, std::string_view extension);

/// A file of an export, in a folder or an archive.
struct ExportedFile {
  std::string path;  ///< within the folder or archive; for messages, and for choosing a reader by the last name
  std::uint64_t size = 0;
  ByteSource read;
};

/// Calls `each` for the files of a folder (except those in `unread_in`), for those of a zip, tar or tar.zst archive, or
/// for the file itself if it is neither. `each` may read all or part of the file, or ignore it. Throws
/// std::runtime_error if the path cannot be read; damage in an archive is reported at the file where it occurs.
void for_each_file(const std::filesystem::path& path, const std::function<void(const ExportedFile& file)>& each);

/// The entries of an export's folder that are not read, with the reasons: symlinks to folders or out of the folder, and
/// entries that are not regular files.
std::vector<std::pair<std::string, std::string>> unread_in(const std::filesystem::path& folder);

}  // namespace agw::cli
