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

/// The file that a path led to when it was opened, as reported by the kernel. Later changes to the path do not affect
/// it.
struct OpenedPath {
  std::filesystem::path path;  ///< its real path; if it does not exist, the path that it would have
  FilePlace place = FilePlace::never;
  std::optional<FileError> problem{};  ///< why it could not be opened, usually `not_found`
  FileType type = FileType::other;
  std::uint64_t size = 0;
  mode_t mode = 0;
  bool has_other_names = false;              ///< a file with further hard links
  std::shared_ptr<Descriptor> descriptor{};  ///< opened with O_PATH; null if there is a problem
};

/// Returns the absolute path for a path that an agent specified: relative ones start at the run's working directory,
/// `~/` is home.
std::filesystem::path absolute_path(std::string_view path, const FileRoots& roots);

/// Looks up a path without opening pipes or devices. A hard link to a private file has the place `never`. Blocks.
OpenedPath locate(const std::filesystem::path& path, const FileRoots& roots);

/// Returns the target to authorize.
ToolTarget target_of(const OpenedPath& opened_path);

/// Opens it for reading. Throws BadRequest with the reason, for the model, if it is not a regular file. Blocks.
Descriptor open_file(const OpenedPath& opened_path);
/// Does the same for a directory.
Directory open_directory(const OpenedPath& opened_path);

/// Returns the path for results: relative if it is beneath the run's working directory.
std::string shown_path(const std::filesystem::path& path, const FileRoots& roots);

/// Returns the result of a call that is not permitted.
ToolOutcome refusal(const Permission& permission);

}  // namespace agw
