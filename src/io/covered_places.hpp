#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace agw {

/// What a sandbox covers up in a directory that it shows. All absolute, none behind a symlink.
struct CoveredPlaces {
  std::vector<std::filesystem::path> private_directories;
  std::vector<std::filesystem::path> private_files;
  std::vector<std::filesystem::path> guarded;        ///< to be read but not written
  std::vector<std::filesystem::path> missing;        ///< guarded, were it there
  std::vector<std::filesystem::path> missing_above;  ///< what such would lie in
  std::vector<std::filesystem::path> passed;         ///< symlinks in the root itself that guarded ones lead through
  std::vector<std::filesystem::path> repositories;   ///< directories `.git`, and what is such a repository by its files
  std::vector<std::filesystem::path> ancestors;      ///< the directories on the way to all these, below the root
};

/// Device and inode: what a file is, whatever it is called.
using FileIdentity = std::pair<std::uint64_t, std::uint64_t>;
using FileIdentities = std::set<FileIdentity>;

/// The private files that have further names somewhere: those of a home, and the gateway's own. A look at a few
/// thousand files at most. Blocks.
FileIdentities linked_private_files(const std::filesystem::path& home, const std::filesystem::path& data_directory);

/// Looks through everything beneath `root`, but for what lies beneath `without`. `linked` are private by whatever name.
/// Throws std::runtime_error where that is more than a few million files. Blocks.
CoveredPlaces covered_places(const std::filesystem::path& root, const std::filesystem::path& without,
                             const FileIdentities& linked);

/// Where the symlinks in guarded places beneath `root`, and those that stand for one, lead: what is as guarded as they
/// are. Only what lies beneath `root` itself, none of it behind a symlink, whether or not anything is there. A look at
/// a few hundred directories at most: those on the way to `file`, guarded ones, and then the nearest to the root.
/// Blocks.
std::vector<std::filesystem::path> guarded_targets(const std::filesystem::path& root,
                                                   const std::filesystem::path& file);

}  // namespace agw
