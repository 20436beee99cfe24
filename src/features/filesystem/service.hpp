#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/async/task.hpp"
#include "features/filesystem/types.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Narrows home further: whether a path in it, resolved, may be used.
using AllowedPlace = std::function<bool(const std::filesystem::path&)>;

/// Lets a person find a directory of theirs: nothing outside of home is shown, and no file's content.
class Filesystem {
public:
  /// `home` is resolved.
  Filesystem(BlockingPool& blocking, std::filesystem::path home) : blocking_(blocking), home_(std::move(home)) {}

  /// The directories in a directory by name, without those that begin with a dot. Throws what Home::require_directory
  /// does, and ApiError 500 `could not read directory`.
  Task<DirectoryListing> list(ListQuery query);

  /// Throws the same, 500 with `search failed`, and first BadRequest `query too short (min 2 chars)`.
  Task<NamesFound> search(NameQuery query);

  /// Where `path` leads, for features that keep a directory of a person's. Throws what Home::require_directory does.
  Task<std::filesystem::path> require_directory(std::string path, AllowedPlace allowed);

  const std::filesystem::path& home() const { return home_; }

private:
  BlockingPool& blocking_;
  std::filesystem::path home_;
};

}  // namespace agw
