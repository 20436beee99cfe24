#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/beneath.hpp"
#include "tools/tool.hpp"

namespace agw {

/// What a path leads to, as the kernel says of what it opened. It stays that, whatever happens to the path afterwards.
struct Located {
  std::filesystem::path path;  ///< where it really is; where it would be, for what is not there
  FilePlace place = FilePlace::never;
  std::optional<FileError> problem{};  ///< why it could not be opened, `not_found` above all
  FileType type = FileType::other;
  std::uint64_t size = 0;
  mode_t mode = 0;
  bool has_other_names = false;              ///< hard links, of a file
  std::shared_ptr<Descriptor> descriptor{};  ///< names it, but reads nothing; null with a problem
};

/// The absolute path that an agent means: relative ones start at the run's working directory, `~/` is home.
std::filesystem::path absolute_path(std::string_view path, const FileRoots& roots);

/// Opens nothing that could answer: a pipe or a device is only looked at. A file that is one of the private ones under
/// another name (a hard link) lies in `never`. Blocks.
Located locate(const std::filesystem::path& path, const FileRoots& roots);

/// What the agent is judged by.
ToolTarget target_of(const Located& located);

/// Opens it for reading. Throws BadRequest with what is wrong, for the model, where it is no regular file. Blocks.
Descriptor open_file(const Located& located);
/// The same for a directory.
Directory open_directory(const Located& located);

/// The path as results name it: short beneath the run's working directory.
std::string shown_path(const std::filesystem::path& path, const FileRoots& roots);

/// The outcome for a call that may not be made.
ToolOutcome refusal(const Permission& permission);

}  // namespace agw
