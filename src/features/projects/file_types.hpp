#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The kind of an entry of a project's directory.
enum class ProjectEntryType {
  directory,
  file,
  symlink,  ///< can be opened if its target is in the project
  other,    ///< cannot be opened: a device, a socket, or an entry whose name is not valid UTF-8
};
std::span<const EnumName> names(Tag<ProjectEntryType>);

struct ProjectEntry {
  std::string name;
  ProjectEntryType type{};
};
const Description& describe(Tag<ProjectEntry>);

/// `GET /projects/:id/files`: the entries of one directory.
struct ProjectDirectory {
  std::string path;                   ///< relative to the project, symlinks resolved; empty for the project itself
  std::vector<ProjectEntry> entries;  ///< directories first, then by name
  bool complete = true;               ///< false if there are more entries
};
const Description& describe(Tag<ProjectDirectory>);

/// The query of `GET /projects/:id/files`.
struct ProjectDirectoryQuery {
  std::optional<std::string> path;
  std::optional<std::int64_t> limit;

  static constexpr std::string_view wrong_limit = "limit must be a positive integer";
};
const Description& describe(Tag<ProjectDirectoryQuery>);

/// `GET /projects/:id/file`: a range of a file.
struct ProjectFile {
  std::string path;     ///< relative to the project, symlinks resolved
  std::int64_t size{};  ///< of the whole file, in bytes
  Timestamp modified_at{};
  std::int64_t offset{};               ///< the start of the range, in bytes
  std::optional<std::string> content;  ///< whole characters; null if the range is not text
  std::optional<std::int64_t> next;    ///< the start of the next range; null at the end of the file
};
const Description& describe(Tag<ProjectFile>);

/// The query of `GET /projects/:id/file`.
struct ProjectFileQuery {
  std::string path;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
  bool raw = false;  ///< the bytes themselves instead of JSON
};
const Description& describe(Tag<ProjectFileQuery>);

}  // namespace agw
