#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/filesystem/types.hpp"
#include "io/process/blocking.hpp"

namespace agw {

struct Route;

/// An additional restriction: whether a resolved path in home may be used.
using AllowedPlace = std::function<bool(const std::filesystem::path&)>;

/// Lets a person choose a directory in home. Reveals nothing outside of home, and no contents of files.
class Filesystem {
public:
  /// `home` must be resolved.
  Filesystem(BlockingPool& blocking, std::filesystem::path home) : blocking_(blocking), home_(std::move(home)) {}

  /// Lists the directories in a directory, by name, without those that begin with a dot, as the JSON of a
  /// DirectoryListing. Throws like Home::require_directory, and ApiError 500 `could not read directory`.
  Task<std::string> list_json(ListQuery query);

  /// Searches by name. Throws BadRequest `query too short (min 2 chars)`; otherwise like `list_json`, with `search
  /// failed` for 500.
  Task<NamesFound> search(NameQuery query);

  /// Returns the programs whose directory exists. Does not access their files.
  Task<std::vector<FoundProgram>> programs();

  /// Returns the directory at `path`, resolved, for features that store a directory chosen by a person. Throws like
  /// Home::require_directory.
  Task<std::filesystem::path> require_directory(std::string path, AllowedPlace allowed);

  const std::filesystem::path& home() const { return home_; }
  /// For other work on directories that a person chose.
  BlockingPool& blocking() const { return blocking_; }

private:
  BlockingPool& blocking_;
  std::filesystem::path home_;
};

/// `/filesystem/ls` and `/filesystem/search`.
std::vector<Route> filesystem_routes(Filesystem& filesystem);

}  // namespace agw
