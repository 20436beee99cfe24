#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// What Git reads of a repository's configuration before it has found the rest.
class GitSettings {
public:
  /// Blocks, as all here.
  explicit GitSettings(std::filesystem::path repository);

  /// Whether Git finds the same with a `commondir` that leads nowhere else. Where there is one it no longer heeds
  /// `core.bare` and `core.worktree`, unless each worktree has a configuration of its own: from the directory that it
  /// lies in it would take a bare repository for one whose files are all deleted. A submodule's files it finds without.
  bool bear_commondir(const std::filesystem::path& root, bool is_submodule) const;

  /// Where Git looks for what is set for one worktree, whether or not anything is there. None of it behind a symlink.
  std::vector<std::filesystem::path> configurations_of_worktrees() const;

private:
  bool has(std::string_view name) const;
  bool is_found_from_above(const std::filesystem::path& root) const;

  std::filesystem::path repository_;
  std::string text_;
};

}  // namespace agw
