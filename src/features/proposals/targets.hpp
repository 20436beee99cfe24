#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "features/extensions/types.hpp"
#include "features/proposals/types.hpp"
#include "io/files/directory.hpp"

namespace agw {

/// The resolved location of a proposal's target: a file beneath a directory that proposals may change.
struct TargetPlace {
  std::filesystem::path root;  ///< the data directory or a project; absolute, resolved
  std::string relative;        ///< beneath it; contains no symlinks
  bool in_data_directory = false;
  bool names_directory = false;  ///< `notes/`: no file can have that name

  std::filesystem::path path() const { return root / relative; }
};

/// The directories that proposals may change, all absolute and resolved.
struct TargetRoots {
  std::filesystem::path data_directory;
  std::vector<std::filesystem::path> projects;
};

/// No value if proposals may not change it: outside of all roots, the gateway's own files, keys and `.git`. Symlinks
/// are resolved first. Blocks.
std::optional<TargetPlace> find_target(const std::string& target, const TargetRoots& roots);

/// The content of the file; not_found if there is none. Blocks.
FileResult<std::string> read_target(const TargetPlace& place, std::size_t limit);
/// When its content was last changed; no value if there is no such file. Blocks.
std::optional<Timestamp> target_changed_at(const TargetPlace& place);
/// Throws as `write_target` does if no file can be there. Blocks.
void check_target(const TargetPlace& place);
/// Creates or replaces it atomically, and creates missing directories. An existing file keeps its mode. Throws
/// BadRequest `validation failed` if no file can be there, std::system_error. Blocks.
void write_target(const TargetPlace& place, const std::string& content);

/// The record that a target in the data directory represents.
struct TargetExtension {
  std::optional<ExtensionType> type;  ///< of an agent or a job; others have it in their text
  std::string name;
};
std::optional<TargetExtension> extension_of_target(const TargetPlace& place);

/// Throws BadRequest `validation failed` for a target that names a directory, and for an extension whose target is not
/// an extension's or whose content is not a YAML map; PayloadTooLarge `soul content too large (max 100KB)` for identity
/// files.
void check_proposed(ProposalType type, const TargetPlace& place, const std::string& content);

}  // namespace agw
