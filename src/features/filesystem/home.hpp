#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "features/filesystem/service.hpp"
#include "io/files/directory.hpp"

namespace agw {

/// The open home directory of the user, the part of the disk that a person may browse. Functions block; do not call
/// them on the loop.
class Home {
public:
  /// `path` must be resolved. Throws std::system_error.
  explicit Home(std::filesystem::path path);

  /// Returns the directory at `path`, resolved; home if there is no path. Throws Forbidden `path outside home
  /// directory` for a path that leaves home, is relative or is not `allowed`, whether or not it exists. Otherwise
  /// throws NotFound `path not found`, Forbidden `permission denied`, BadRequest `path is not a directory`.
  std::filesystem::path require_directory(const std::optional<std::string>& path,
                                          const AllowedPlace& allowed = {}) const;

  /// Whether the target of a symlink is a directory; nullopt if the target does not exist or is outside of home.
  std::optional<bool> link_is_directory(const std::filesystem::path& link) const;

  /// Converts `path`, which must be in home and without symlinks, to the form that `directory` accepts.
  std::string below(const std::filesystem::path& path) const;

  /// Does not follow symlinks, so that one created later cannot lead out of home.
  const Directory& directory() const { return directory_; }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
  Directory directory_;
};

}  // namespace agw
