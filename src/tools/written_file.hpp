#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tools/located.hpp"

namespace agw {

/// A file that is to be written, in the open directory that it will be in. A symlink in its place is replaced, not
/// followed; the directories on the way to it may be missing.
class WrittenFile {
public:
  /// Where `path` leads. Throws BadRequest where no file can be there. Blocks.
  WrittenFile(const std::filesystem::path& path, const FileRoots& roots);

  ToolTarget target() const { return {.place = place_, .path = path_.string()}; }
  const std::filesystem::path& path() const { return path_; }
  bool exists() const { return exists_; }

  /// Makes the missing directories and the file, in one step. Throws BadRequest where that fails, also where its
  /// directory is not where it was any more. Blocks.
  void write(std::string_view content) const;

private:
  Located parent_;  ///< the nearest directory that there is
  std::filesystem::path missing_;
  std::string name_;
  std::filesystem::path path_;
  FilePlace place_ = FilePlace::never;
  bool exists_ = false;
  mode_t mode_ = 0644;
};

}  // namespace agw
