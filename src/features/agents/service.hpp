#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "features/agents/types.hpp"
#include "features/extensions/types.hpp"
#include "tools/place.hpp"

namespace agw {

struct Tool;
struct Route;
class Clock;
class Connection;
class Database;
class Extensions;

/// Throws BadRequest `invalid agent name` unless `name` is valid as the name of an agent's own directory: 1 to 128
/// bytes without `..`, `/`, `\`, control characters and a leading dot.
void check_agent_name(std::string_view name);

enum class IdentityFile { soul, user_profile };

/// The identity and the knowledge of an agent, from its files.
struct AgentIdentity {
  std::string base_soul;
  std::string agent_soul;
  std::string user_profile;  ///< the agent's own if it has one, else the shared one
  std::string notes;
};

/// The identity files: the shared soul and user profile in the data directory, each agent's own in `agents/<name>/`.
/// They are read from disk each time, never through a symlink, and written atomically. Agents are identified by id or
/// name, even during a rename. Unusable files cause ApiErrors: BadRequest `invalid agent name` if the agent's directory
/// is a link to another place, Forbidden `permission denied`, PayloadTooLarge `soul content too large (max 100KB)`.
/// Example: src/features/agents/service_test.cpp: Identities.RememberALineAtATime
class Identities {
public:
  /// `extensions` must have an outbox, which renames and deletes agents' directories along with their agents.
  Identities(std::filesystem::path data_directory, const Extensions& extensions);

  /// Returns the name of the directory below `agents/`: the agent's name for its id; any other safe name unchanged.
  /// Throws BadRequest `invalid agent name`.
  std::string directory_name(std::string_view id_or_name) const;

  /// Returns the text of the agent's file, or of the shared one; empty if there is no file.
  Task<std::string> read(IdentityFile file, std::optional<std::string> agent);
  /// Writes the text. Creates missing directories and replaces a symlink.
  Task<> write(IdentityFile file, std::optional<std::string> agent, std::string content);

  /// Returns the identity for the agent's prompt. Unusable files are skipped and logged.
  Task<AgentIdentity> of(std::string agent);
  /// Adds a line to the agent's notes. Throws NotFound `agent not found`, PayloadTooLarge if they are full.
  Task<> remember(std::string agent, std::string text);

private:
  std::optional<std::string> own_directory_name(const std::optional<std::string>& id_or_name) const;

  Task<> settled(std::string agent) const;

  std::filesystem::path data_directory_;
  const Extensions& extensions_;
};

/// The stages of agents, by agent id. Only a person changes them, through the API.
class Stages {
public:
  Stages(Database& database, const Clock& clock, const Extensions& extensions);

  /// Reads the stages. Call it before the loop runs.
  void load(Connection& connection);
  /// Reads the stages again, because another node may have changed them.
  Task<> refresh();

  /// Returns the agent's stage from memory: apprentice until a person changes it.
  Stage of(std::string_view agent_id) const;

  /// Finds an agent. Throws BadRequest `invalid agent name`, NotFound `agent not found`.
  ExtensionPointer require_agent(std::string_view id_or_name) const;

  Task<AgentStage> show(ExtensionPointer agent);
  Task<AgentStage> change(ExtensionPointer agent, StageChange wanted);

private:
  Database& database_;
  const Clock& clock_;
  const Extensions& extensions_;
  std::map<std::string, Stage, std::less<>> stages_;
};

/// The endpoints of souls, user profiles and stages.
std::vector<Route> agent_routes(Identities& identities, Stages& stages);

/// The tool Remember: adds a line to the notes of the calling agent, which are part of its prompt.
Tool remember_tool(Identities& identities);

}  // namespace agw
