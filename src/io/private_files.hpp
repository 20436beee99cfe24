#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

// What no agent ever sees or changes, by the names on the way to it. The only place where these names stand.

/// Whether a name makes a file or a directory, with all in it, private, such as `.ssh` or `server.pem`. `parent` is the
/// name of the directory that it is in.
bool is_private_name(std::string_view parent, std::string_view name);

/// What `agw restore` writes behind the data directory's name, for the directory that it keeps (a time follows), and
/// for the one that it unpacks into (so many hex digits follow), which one that was killed leaves behind.
inline constexpr std::string_view kept_data_mark = ".before-restore-";
inline constexpr std::string_view unpacked_data_mark = ".restore-";
inline constexpr std::size_t unpacked_data_digits = 8;

/// Whether a directory of this name holds, or was to hold, the data of a gateway, by those marks. Such a name is
/// private.
bool is_restore_name(std::string_view name);

/// What makes a name private, as patterns for programs that search.
std::vector<std::string> private_patterns();

/// Whether any name of the path does.
bool is_private_path(const std::filesystem::path& path);

/// Whether what lies there makes other programs or the gateway execute something, and is therefore never written: a
/// repository's hooks and configuration, and `.agents`, of a project and of what lies in it. `names` are those below
/// the project. A `.git` itself counts: as a file it leads to another repository, as `commondir` in it does.
bool is_guarded(const std::vector<std::string>& names);

/// Whether Git would take an open directory for a repository, whatever it is called. Blocks.
bool holds_repository(int directory);

/// The way from a project down to a directory in it, and what is guarded there. A repository is one whatever it is
/// called.
class GuardedWay {
public:
  /// That the directory holds one. False where it, or what it lies in, was known as guarded or as a repository.
  bool note_repository();
  void enter(const std::string& name);

  bool is_in_repository() const;
  /// Whether the directory is guarded with all that it holds.
  bool is_guarded() const { return is_guarded_; }
  /// Whether what it holds by that name is.
  bool guards(const std::string& name) const;

private:
  std::vector<std::string> names_;  ///< as `is_guarded` takes them, with `.git` for what a repository is called
  bool has_other_name_ = false;     ///< the directory is a repository that is not called `.git`
  bool is_guarded_ = false;
};

}  // namespace agw
