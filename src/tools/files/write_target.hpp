#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/entry_state.hpp"
#include "tools/opened_path.hpp"

namespace agw {

/// A file to write, in an open directory. An existing symlink is replaced, not followed; parent directories may be
/// missing.
class WriteTarget {
public:
  /// Resolves `path`. Throws BadRequest if it cannot be a file. Blocks.
  WriteTarget(const std::filesystem::path& path, const FileRoots& roots);

  ToolTarget target() const { return {.place = place_, .path = path_.string()}; }
  const std::filesystem::path& path() const { return path_; }
  bool exists() const { return exists_; }

  /// Creates missing directories and writes the file atomically. Throws BadRequest if that fails or its directory was
  /// moved. Blocks.
  void write(std::string_view content) const;

  /// The current state, with the content if it has at most `limit` bytes. Throws BadRequest. Blocks.
  EntryState state(std::size_t limit) const;
  /// The state after `write`.
  EntryState state_with(std::string content) const;
  /// The directories that `write` creates, the uppermost first.
  std::vector<std::filesystem::path> new_directories() const;
  /// The new content, on disk under a temporary name in the file's directory.
  struct Prepared;
  /// Whether `prepare` has no visible effect: the directory exists.
  bool can_prepare() const { return missing_.empty(); }
  /// Creates missing directories and writes the new content to a temporary file, for `replace`. Throws BadRequest.
  /// Blocks.
  std::shared_ptr<Prepared> prepare(const EntryState& wanted) const;
  /// Renames the temporary file to the target. Throws BadRequest if the target no longer matches `present`. Blocks.
  void replace(Prepared& prepared, const FileStamp& present) const;

private:
  /// Opens its directory, and creates it if it is missing. Throws BadRequest, std::system_error.
  Directory made_parent() const;
  /// Throws BadRequest if the directory was moved after the write was authorized.
  void require_not_moved(const Directory& parent) const;

  OpenedPath parent_;  ///< the nearest existing directory
  std::filesystem::path missing_;
  std::string name_;
  std::filesystem::path path_;
  FilePlace place_ = FilePlace::never;
  bool exists_ = false;
  mode_t mode_ = 0644;
  uid_t owner_ = static_cast<uid_t>(-1);  ///< of the file that is replaced
  gid_t group_ = static_cast<gid_t>(-1);
};

}  // namespace agw
