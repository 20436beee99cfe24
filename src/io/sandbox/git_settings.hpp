#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// The part of a repository's configuration that Git reads before it has located the rest.
class GitSettings {
public:
  /// Blocks, like all functions of this class.
  explicit GitSettings(std::filesystem::path repository);

  /// Whether Git behaves the same with a `commondir` file that names the repository itself. If there is one, Git
  /// ignores `core.bare` and `core.worktree`, unless each worktree has its own configuration: from the parent
  /// directory, a bare repository would look like one whose files are all deleted. Git finds the files of a submodule
  /// without these settings.
  bool tolerates_commondir(const std::filesystem::path& root, bool is_submodule) const;

  /// The files with per-worktree configuration, existing or not. No path leads through a symlink.
  std::vector<std::filesystem::path> configurations_of_worktrees() const;

private:
  bool has(std::string_view name) const;
  bool is_found_from_above(const std::filesystem::path& root) const;

  std::filesystem::path repository_;
  std::string text_;
};

}  // namespace agw
