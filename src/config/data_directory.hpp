#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/data_files.hpp"
#include "config/environment.hpp"
#include "config/settings.hpp"

namespace agw {

/// The directory of all the gateway's data. All paths are absolute and resolved.
struct DataDirectory {
  std::filesystem::path home;  ///< the user's, from `$HOME`
  std::filesystem::path path;  ///< `{data_dir}`; may not exist yet
  std::filesystem::path own;   ///< not used by other gateways: `path`, or a directory in it if nodes share it

  std::filesystem::path database() const { return path / data_files::database; }
  std::filesystem::path backups() const { return path / "backups"; }
};

/// Finds the data directory: the flag, else `$AGENT_GATEWAY_DATA_DIR`, else `$HOME/.agent-gateway`. Does not access it.
/// Throws StartError (usage) without a usable `$HOME`.
/// Example: src/config/data_directory_test.cpp: DataDirectoryTest.TheFlagPrecedesTheVariableAndHome
DataDirectory find_data_directory(const std::optional<std::string>& flag, const Environment& environment);

/// The directory or a file in it that the gateway needs, if it belongs to another user and cannot be read, as after a
/// command with sudo.
std::optional<std::filesystem::path> foreign_file(const std::filesystem::path& data_directory);

/// What to do about it.
std::string foreign_file_remedy(const std::filesystem::path& data_directory);

/// Throws StartError (usage) if there is one.
void refuse_foreign_file(const std::filesystem::path& data_directory);

/// Creates the directory if necessary (mode 0700) and checks that this user, and no other, can read and write it;
/// throws StartError (usage) otherwise. Returns a warning for the log if it is outside home, else an empty string. Its
/// users create its contents.
std::string prepare_data_directory(const DataDirectory& directory);

/// Returns the directory for files that only this gateway uses: its lock, its log, the checkpoints for undo.
std::filesystem::path own_directory(const std::filesystem::path& data_directory, const Settings& settings);

/// Sets `own` and creates that directory. Throws StartError (usage) if the data directory belongs to nodes and this
/// gateway does not share it, or the other way around.
void prepare_own_directory(DataDirectory& directory, const Settings& settings);

}  // namespace agw
