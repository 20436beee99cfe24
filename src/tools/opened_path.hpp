#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/files/directory.hpp"
#include "tools/tool.hpp"

namespace agw {

/// The target of a path, as the kernel reports for the opened file. It stays valid no matter what happens to the path
/// afterwards.
struct OpenedPath {
  std::filesystem::path path;  ///< its real path; if it does not exist, the path that it would have
  FilePlace place = FilePlace::never;
  std::optional<FileError> problem{};  ///< why it could not be opened, `not_found` above all
  FileType type = FileType::other;
  std::uint64_t size = 0;
  mode_t mode = 0;
  bool has_other_names = false;              ///< a file with further hard links
  std::shared_ptr<Descriptor> descriptor{};  ///< opened with O_PATH; null if there is a problem
};

/// The absolute path for an agent's path: relative ones start at the run's working directory, `~/` is home.
std::filesystem::path absolute_path(std::string_view path, const FileRoots& roots);

/// Looks up a path without opening pipes or devices. A file that is a private one under another name (a hard link) has
/// the place `never`. Blocks.
OpenedPath locate(const std::filesystem::path& path, const FileRoots& roots);

/// The target to authorize.
ToolTarget target_of(const OpenedPath& opened_path);

/// Opens it for reading. Throws BadRequest with the reason, for the model, if it is not a regular file. Blocks.
Descriptor open_file(const OpenedPath& opened_path);
/// The same for a directory.
Directory open_directory(const OpenedPath& opened_path);

/// The path as results show it: relative if it is beneath the run's working directory.
std::string shown_path(const std::filesystem::path& path, const FileRoots& roots);

/// The result of a call that is not permitted.
ToolOutcome refusal(const Permission& permission);

}  // namespace agw
