#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/task.hpp"
#include "features/agents/types.hpp"
#include "features/extensions/types.hpp"
#include "tools/place.hpp"

namespace agw {

class Clock;
class Connection;
class Database;
class Extensions;

/// Throws BadRequest `invalid agent name` for what is no name of a directory that is nobody else's: 1 to 128 bytes
/// without `..`, `/`, `\`, control characters and a leading dot.
void check_agent_name(std::string_view name);

/// Which of an agent's files.
enum class IdentityFile { soul, user_profile };

/// Who an agent is and what it knows, as its files say now.
struct AgentIdentity {
  std::string base_soul;
  std::string agent_soul;
  std::string user_profile;  ///< the agent's own where it has one, else the shared one
  std::string notes;
};

/// The identity files: the base soul and the shared user profile in the data directory, each agent's own in
/// `agents/<name>/`. They are read anew each time, never through a symlink, and written in one step. Agents are told by
/// their ids or names; while one is renamed, its files are found all the same. What cannot be used is answered with
/// ApiErrors: BadRequest `invalid agent name` where the agent's directory leads elsewhere, Forbidden `permission
/// denied`, PayloadTooLarge `soul content too large (max 100KB)`.
class Identities {
public:
  /// `extensions` follow with directories.
  Identities(std::filesystem::path data_directory, const Extensions& extensions);

  /// The name beneath `agents/`: an agent's id becomes its name, any other safe name stays. Throws BadRequest `invalid
  /// agent name`.
  std::string directory_name(std::string_view id_or_name) const;

  /// The text of the agent's file, or of the one that all share; empty without a file.
  Task<std::string> read(IdentityFile file, std::optional<std::string> agent);
  /// Makes the directories that are missing. A symlink in the file's place is replaced.
  Task<> write(IdentityFile file, std::optional<std::string> agent, std::string content);

  /// All that the agent is told of itself. A file that cannot be used is left out, and the log says why.
  Task<AgentIdentity> of(std::string agent);
  /// Adds a line to the agent's notes. Throws NotFound `agent not found`, PayloadTooLarge where they are full.
  Task<> remember(std::string agent, std::string text);

private:
  std::optional<std::string> own_directory_name(const std::optional<std::string>& id_or_name) const;

  std::filesystem::path data_directory_;
  const Extensions& extensions_;
};

/// How far each agent is trusted, by the agent's id. Everything is decided by a person, through the API.
class Stages {
public:
  Stages(Database& database, const Clock& clock, const Extensions& extensions);

  /// Before the loop runs.
  void load(Connection& connection);

  /// Of the agent with that id, from memory: apprentice until somebody decides otherwise.
  Stage of(std::string_view agent_id) const;

  /// Throws BadRequest `invalid agent name`, NotFound `agent not found`.
  ExtensionPointer require_agent(std::string_view id_or_name) const;

  Task<AgentStage> show(ExtensionPointer agent);
  Task<AgentStage> change(ExtensionPointer agent, StageChange wanted);

private:
  Database& database_;
  const Clock& clock_;
  const Extensions& extensions_;
  std::map<std::string, Stage, std::less<>> stages_;
};

}  // namespace agw
