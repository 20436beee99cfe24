#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/described.hpp"

namespace agw {

/// The error of a search for fewer than two characters.
inline constexpr std::string_view query_too_short = "query too short (min 2 chars)";

/// A program whose data `agw import` imports, and the directory of the data.
struct OtherProgram {
  std::string_view name;       ///< as the argument of `agw import`
  std::string_view title;      ///< for people
  std::string_view directory;  ///< relative to home
};
inline constexpr std::array other_programs{
    OtherProgram{"claude-code", "Claude Code", ".claude"}, OtherProgram{"codex", "Codex", ".codex"},
    OtherProgram{"hermes", "Hermes Agent", ".hermes"},     OtherProgram{"opencode", "opencode", ".config/opencode"},
    OtherProgram{"openclaw", "OpenClaw", ".openclaw"},
};

/// A program that has been used on this machine.
struct FoundProgram {
  std::string name;
  std::string title;
  std::string path;  ///< absolute, of its directory
};
const Description& describe(Tag<FoundProgram>);

/// A file or directory of the host.
struct FileEntry {
  std::string name;
  std::string path;  ///< absolute
  bool isDirectory = false;
};
const Description& describe(Tag<FileEntry>);

/// The query of `GET /filesystem/ls`.
struct ListQuery {
  std::optional<std::string> path;  ///< absolute; default: home
};
const Description& describe(Tag<ListQuery>);

/// The directories in a directory.
struct DirectoryListing {
  std::string path;  ///< with symlinks resolved
  std::vector<FileEntry> entries;
};
const Description& describe(Tag<DirectoryListing>);

/// The query of `GET /filesystem/search`.
struct NameQuery {
  std::string q;                    ///< a part of the name, ignoring case
  std::optional<std::string> path;  ///< where to search; default: home
};
const Description& describe(Tag<NameQuery>);

/// The result of a search by name, nearest first.
struct NamesFound {
  std::string query;
  std::string root;  ///< with symlinks resolved
  std::vector<FileEntry> results;
};
const Description& describe(Tag<NamesFound>);

}  // namespace agw
