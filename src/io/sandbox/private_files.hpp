#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

// Files that no agent may read or change, by the names in their paths. All such names are listed here.

/// Whether a file or directory of this name is private with all its contents, such as `.ssh` or `server.pem`. `parent`
/// is the name of its directory.
bool is_private_name(std::string_view parent, std::string_view name);

/// Suffixes that `agw restore` appends to the data directory's name: for the old directory, which it keeps (followed by
/// a time), and for the one that it unpacks into (followed by hex digits), which a kill may leave behind.
inline constexpr std::string_view kept_data_mark = ".before-restore-";
inline constexpr std::string_view unpacked_data_mark = ".restore-";
inline constexpr std::size_t unpacked_data_digits = 8;

/// Whether a directory name has such a suffix and thus contains a gateway's data. Such names are private.
bool is_restore_name(std::string_view name);

/// Private names as patterns for search programs.
std::vector<std::string> private_name_patterns();

/// Whether any name in the path is private.
bool is_private_path(const std::filesystem::path& path);

/// Whether other programs or the gateway execute content of this path, so that it must never be written: a repository's
/// hooks and configuration, and `.agents`, in a project and beneath it. `names` are the path components below the
/// project. `.git` itself counts, because as a file it can refer to another repository, as `commondir` within it can.
bool is_guarded(const std::vector<std::string>& names);

/// Whether Git would treat an open directory as a repository, under any name. Blocks.
bool holds_repository(int directory);

/// Tracks the path from a project down to a directory, and which entries are guarded there. A repository counts under
/// any name.
class GuardedPathTracker {
public:
  /// Marks the current directory as a repository. Returns false if it or a parent was already guarded or a repository.
  bool mark_repository();
  void enter(const std::string& name);

  bool is_in_repository() const;
  /// Whether the directory is guarded with all its contents.
  bool is_guarded() const { return is_guarded_; }
  /// Whether the entry of that name is guarded.
  bool guards(const std::string& name) const;

private:
  std::vector<std::string> names_;  ///< in the form for `is_guarded`, with `.git` for any repository
  bool has_other_name_ = false;     ///< the directory is a repository not named `.git`
  bool is_guarded_ = false;
};

}  // namespace agw
