#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace agw {

/// The paths that a sandbox masks in a directory that it exposes. All are absolute, none is reached through a symlink.
struct MaskedPaths {
  std::vector<std::filesystem::path> private_directories;
  std::vector<std::filesystem::path> private_files;
  std::vector<std::filesystem::path> guarded;          ///< read-only
  std::vector<std::filesystem::path> missing;          ///< would be guarded if they existed
  std::vector<std::filesystem::path> missing_parents;  ///< the missing directories that these would be in
  std::vector<std::filesystem::path> passed;           ///< symlinks directly in the root on the way to guarded paths
  std::vector<std::filesystem::path> repositories;     ///< `.git` directories, and bare repositories
  std::vector<std::filesystem::path> ancestors;        ///< the directories between the root and all of these
};

/// Device and inode: identifies a file under any name.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;
using FileIdentities = std::set<FileIdentity>;

/// The private files that have further hard links: those of a home, and the gateway's own. Checks a few thousand files
/// at most. Blocks.
FileIdentities hard_linked_private_files(const std::filesystem::path& home,
                                         const std::filesystem::path& data_directory);

/// Scans everything beneath `root`, except what lies beneath `without`. Files in `linked` are private under any name.
/// Throws std::runtime_error if there are more than a few million files. Blocks.
MaskedPaths masked_paths(const std::filesystem::path& root, const std::filesystem::path& without,
                         const FileIdentities& linked);

/// The targets of symlinks that are guarded or lie in guarded directories beneath `root`; they are guarded too. Returns
/// only targets beneath `root`, none through a symlink, existing or not. Scans a few hundred directories at most: those
/// on the way to `file`, guarded ones, and then the nearest to the root. Blocks.
std::vector<std::filesystem::path> guarded_targets(const std::filesystem::path& root,
                                                   const std::filesystem::path& file);

}  // namespace agw
