#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The kind of an entry of a project's directory.
enum class ProjectEntryType {
  directory,
  file,
  symlink,  ///< can be opened if it leads to something in the project
  other,    ///< cannot be opened: a device, a socket, or something whose name is no UTF-8
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

/// Its query.
struct ProjectDirectoryQuery {
  std::optional<std::string> path;
  std::optional<std::int64_t> limit;
};
const Description& describe(Tag<ProjectDirectoryQuery>);

/// `GET /projects/:id/file`: a range of a file.
struct ProjectFile {
  std::string path;     ///< relative to the project, symlinks resolved
  std::int64_t size{};  ///< of the whole file, in bytes
  Timestamp modified_at{};
  std::int64_t offset{};               ///< where the range begins, in bytes
  std::optional<std::string> content;  ///< whole characters; none if the range is no text
  std::optional<std::int64_t> next;    ///< where the next range begins; none at the end of the file
};
const Description& describe(Tag<ProjectFile>);

/// Its query.
struct ProjectFileQuery {
  std::string path;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
  bool raw = false;  ///< the bytes themselves instead of JSON
};
const Description& describe(Tag<ProjectFileQuery>);

}  // namespace agw
