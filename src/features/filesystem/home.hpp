#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "features/filesystem/service.hpp"
#include "io/files/directory.hpp"

namespace agw {

/// The user's home directory, open: what may be browsed. Blocks: not for the loop.
class Home {
public:
  /// `path` is resolved. Throws std::system_error.
  explicit Home(std::filesystem::path path);

  /// Where `path` leads, home where there is none. Throws Forbidden `path outside home directory` for what leads out of
  /// home, is relative or is not `allowed`, whether or not it exists; then NotFound `path not found`, Forbidden
  /// `permission denied`, BadRequest `path is not a directory`.
  std::filesystem::path require_directory(const std::optional<std::string>& path,
                                          const AllowedPlace& allowed = {}) const;

  /// Whether what a symlink leads to is a directory; nothing where it leads out of home or to nothing.
  std::optional<bool> link_is_directory(const std::filesystem::path& link) const;

  /// Of a path inside of home without symlinks, the part that `directory` takes.
  std::string below(const std::filesystem::path& path) const;

  /// Follows no symlinks, so that nothing put in the way later leads out.
  const Directory& directory() const { return directory_; }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
  Directory directory_;
};

}  // namespace agw
