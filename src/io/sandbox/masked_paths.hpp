#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace agw {

/// The paths that a sandbox masks in an exposed directory. All are absolute, and none leads through a symlink.
struct MaskedPaths {
  std::vector<std::filesystem::path> private_directories;
  std::vector<std::filesystem::path> private_files;
  std::vector<std::filesystem::path> guarded;          ///< read-only
  std::vector<std::filesystem::path> missing;          ///< would be guarded if they existed
  std::vector<std::filesystem::path> missing_parents;  ///< missing directories that would contain these
  std::vector<std::filesystem::path> passed;           ///< symlinks directly in the root that lead to guarded paths
  std::vector<std::filesystem::path> repositories;     ///< `.git` directories, and bare repositories
  std::vector<std::filesystem::path> ancestors;        ///< the directories between the root and all of these
};

/// Device and inode: identifies a file under any name.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;
using FileIdentities = std::set<FileIdentity>;

/// The private files with several hard links: those of a home, and the gateway's own. Checks at most a few thousand
/// files. Blocks.
FileIdentities hard_linked_private_files(const std::filesystem::path& home,
                                         const std::filesystem::path& data_directory);

/// Scans everything beneath `root`, except for `without` and its contents. Files in `linked` are private under any
/// name. Throws std::runtime_error if there are more than a few million files. Blocks.
MaskedPaths masked_paths(const std::filesystem::path& root, const std::filesystem::path& without,
                         const FileIdentities& linked);

/// The targets of symlinks beneath `root` that are guarded or lie in guarded directories; these targets are guarded
/// too. Returns only targets beneath `root`, existing or not, without symlinks in their paths. Scans at most a few
/// hundred directories: those on the path to `file`, guarded ones, and then those nearest to the root. Blocks.
std::vector<std::filesystem::path> guarded_targets(const std::filesystem::path& root,
                                                   const std::filesystem::path& file);

}  // namespace agw
