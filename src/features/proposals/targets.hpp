#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "features/extensions/types.hpp"
#include "io/beneath.hpp"

namespace agw {

/// Where a proposal's target really lies: a file beneath a directory that proposals may change.
struct TargetPlace {
  std::filesystem::path root;  ///< the data directory or a project; absolute, resolved
  std::string relative;        ///< beneath it; no symlink leads there any more
  bool in_data_directory = false;
  bool names_directory = false;  ///< `notes/`: no file can have that name

  std::filesystem::path path() const { return root / relative; }
};

/// The directories that proposals may change, all absolute and resolved.
struct TargetRoots {
  std::filesystem::path data_directory;
  std::vector<std::filesystem::path> projects;
};

/// Nothing where proposals may not change it: outside of all roots, the gateway's own files, keys and `.git`. Symlinks
/// are followed first. Blocks.
std::optional<TargetPlace> find_target(const std::string& target, const TargetRoots& roots);

/// The bytes there; not_found where there is no such file. Blocks.
FileResult<std::string> read_target(const TargetPlace& place, std::size_t limit);
/// When its content was changed; nothing where there is no such file. Blocks.
std::optional<Timestamp> target_changed_at(const TargetPlace& place);
/// Throws as `write_target` does where no file can be at that place. Blocks.
void check_target(const TargetPlace& place);
/// Replaces or makes it in one step, with the directories that are missing. An existing file keeps its mode. Throws
/// BadRequest `validation failed` where no file can be at that place, std::system_error. Blocks.
void write_target(const TargetPlace& place, const std::string& content);

/// The record that a target in the data directory stands for.
struct TargetExtension {
  std::optional<ExtensionType> type;  ///< of an agent or a job; others say it in their text
  std::string name;
};
std::optional<TargetExtension> extension_of_target(const TargetPlace& place);

}  // namespace agw
