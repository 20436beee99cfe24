#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/data_files.hpp"
#include "config/environment.hpp"

namespace agw {

/// Where the gateway keeps everything. Both paths are absolute and resolved through symlinks.
struct DataDirectory {
  std::filesystem::path home;  ///< the user's, from `$HOME`
  std::filesystem::path path;  ///< `{data_dir}`; it may not exist yet

  std::filesystem::path database() const { return path / data_files::database; }
  std::filesystem::path backups() const { return path / "backups"; }
};

/// Finds it: the flag, else `$AGENT_GATEWAY_DATA_DIR`, else `$HOME/.agent-gateway`. Touches nothing. Throws StartError
/// (usage) without a usable `$HOME`.
DataDirectory find_data_directory(const std::optional<std::string>& flag, const Environment& environment);

/// Makes sure that it exists (mode 0700) and is nobody else's to read or write; throws StartError (usage) otherwise.
/// Answers a warning for the log where it lies outside home, else nothing. What lies in it is made by those who use it.
std::string prepare_data_directory(const DataDirectory& directory);

}  // namespace agw
