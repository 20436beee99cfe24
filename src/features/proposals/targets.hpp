#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "features/extensions/types.hpp"
#include "features/proposals/types.hpp"
#include "io/files/directory.hpp"

namespace agw {

/// The resolved location of a proposal's target: a file below a directory that proposals may change.
struct TargetPlace {
  std::filesystem::path root;  ///< the data directory or a project; absolute, resolved
  std::string relative;        ///< below `root`; contains no symlinks
  bool in_data_directory = false;
  bool names_directory = false;  ///< the target ends as `notes/` does, so it cannot be a file

  std::filesystem::path path() const { return root / relative; }
};

/// The directories that proposals may change, all absolute and resolved.
struct TargetRoots {
  std::filesystem::path data_directory;
  std::vector<std::filesystem::path> projects;
};

/// No value if proposals may not change the target: if it is outside of all roots, one of the gateway's own files, a
/// key, or in `.git`. Symlinks are resolved first. Blocks.
std::optional<TargetPlace> find_target(const std::string& target, const TargetRoots& roots);

/// The content of the file; the error is not_found if there is none. Blocks.
FileResult<std::string> read_target(const TargetPlace& place, std::size_t limit);
/// The time at which the file was last modified; no value if it does not exist. Blocks.
std::optional<Timestamp> target_changed_at(const TargetPlace& place);
/// Throws like `write_target` if no file can be created at the place. Blocks.
void check_target(const TargetPlace& place);
/// Creates or replaces the file atomically, and creates missing directories. An existing file keeps its mode. Throws
/// BadRequest `validation failed` if no file can be created there, Conflict `changed meanwhile` if a person saves the
/// file at that moment, and std::system_error. Blocks.
void write_target(const TargetPlace& place, const std::string& content);

/// The record that a target in the data directory represents.
struct TargetExtension {
  std::optional<ExtensionType> type;  ///< only for agents and jobs; other types are in the text
  std::string name;
};
std::optional<TargetExtension> extension_of_target(const TargetPlace& place);

/// Throws BadRequest `validation failed` for a target that names a directory, and for a proposed extension whose target
/// is not that of an extension or whose content is not a YAML map; PayloadTooLarge `soul content too large (max 100KB)`
/// for identity files. Blocks: YAML of a mebibyte takes 0.2 s.
void check_proposed(ProposalType type, const TargetPlace& place, const std::string& content);

}  // namespace agw
