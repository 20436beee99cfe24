#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace agw {

/// The size limit of an identity file, including the notes, in bytes.
/// Example: src/tools/place_test.cpp: PlaceOf.IsDeterminedByTheLocationOfTheFile
inline constexpr std::size_t identity_limit = 102'400;
/// The error text for a soul or a profile over the limit.
inline constexpr auto identity_too_large = "soul content too large (max 100KB)";

/// How a file relates to an agent, by its real path.
enum class FilePlace {
  project,        ///< in the thread's project
  workspace,      ///< in the agent's own workspace
  own_soul,       ///< the agent's soul
  own_directory,  ///< elsewhere in the agent's directory
  library,        ///< knowledge and skills that all agents share
  home,           ///< elsewhere in the user's home, without a path component that begins with a dot
  guarded,        ///< read-only: a project's `.git/hooks`, `.git/config`, `.agents/`
  hidden,         ///< in home, below a path component that begins with a dot
  outside,        ///< outside of home
  never,          ///< keys, tokens, other programs' secrets, the gateway's own files
};

/// The directories that decide the place of a file. All absolute and resolved.
struct FileRoots {
  std::filesystem::path home;
  std::filesystem::path data_directory;
  std::string agent;                             ///< its name
  std::optional<std::filesystem::path> project;  ///< the thread's

  std::filesystem::path agent_directory() const { return data_directory / "agents" / agent; }
  std::filesystem::path workspace() const { return agent_directory() / "workspace"; }
  /// The base for relative paths.
  std::filesystem::path working_directory() const { return project ? *project : workspace(); }
};

/// Creates the agent's workspace, the base for relative paths if there is no project. Throws BadRequest if that fails.
void make_workspace(const FileRoots& roots);

/// Returns the place of `path`, which must be absolute and resolved: the path that the kernel reports for the open
/// file, not the requested one.
FilePlace place_of(const std::filesystem::path& path, const FileRoots& roots);

/// Whether reading tools may read files in that place.
bool is_readable(FilePlace place);

}  // namespace agw
