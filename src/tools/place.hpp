#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace agw {

/// What an identity file, the notes included, may hold, in bytes.
inline constexpr std::size_t identity_limit = 102'400;
/// What is answered where a soul or a profile would hold more.
inline constexpr auto identity_too_large = "soul content too large (max 100KB)";

/// What a file is to an agent, told by where it really lies.
enum class FilePlace {
  project,        ///< in the thread's project
  workspace,      ///< in the agent's own workspace
  own_soul,       ///< the agent's soul
  own_directory,  ///< elsewhere in the agent's directory
  library,        ///< the knowledge and the skills that all agents share
  home,           ///< elsewhere in the user's home, not behind a name that begins with a dot
  guarded,        ///< to be read but never written: a project's `.git/hooks`, `.git/config`, `.agents/`
  hidden,         ///< in home behind a name that begins with a dot
  outside,        ///< outside of home
  never,          ///< keys, tokens, other programs' secrets, the gateway's own files
};

/// The directories that files are judged by. All absolute and resolved through symlinks.
struct FileRoots {
  std::filesystem::path home;
  std::filesystem::path data_directory;
  std::string agent;                             ///< its name
  std::optional<std::filesystem::path> project;  ///< the thread's

  std::filesystem::path agent_directory() const { return data_directory / "agents" / agent; }
  std::filesystem::path workspace() const { return agent_directory() / "workspace"; }
  /// Where relative paths start.
  std::filesystem::path working_directory() const { return project ? *project : workspace(); }
};

/// Makes the agent's workspace, where relative paths start without a project. Throws BadRequest where that fails.
void make_workspace(const FileRoots& roots);

/// Where `path` lies. It is absolute and resolved: what the kernel says of the open file, not what somebody asked for.
FilePlace place_of(const std::filesystem::path& path, const FileRoots& roots);

/// Whether tools that read may see what lies there.
bool is_readable(FilePlace place);

}  // namespace agw
