#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"
#include "cli/transfer/importer.hpp"

namespace agw::cli {

// Files of other agent programs that people edit. Unreadable ones are left out and reported.

/// The files with this extension in `folder` and below it, sorted by path. Follows symlinks to files in the program's
/// directory or in `folder`, but not symlinks to folders.
std::vector<std::filesystem::path> files_below(Importer& importer, const std::filesystem::path& folder,
                                               std::string_view extension);

/// Whether an entry of a folder is itself a folder. Reports a symlink to a folder, which is not followed.
bool is_folder(Importer& importer, const std::filesystem::directory_entry& entry);

/// Whether a program's file of this fixed name exists. It may be a symlink to anywhere: people keep their settings in
/// separate directories.
bool is_named_file(Importer& importer, const std::filesystem::path& path);
/// Whether a file found in `folder` can be read. A symlink must stay in the program's directory or in `folder`.
bool is_found_file(Importer& importer, const std::filesystem::path& path, const std::filesystem::path& folder);

/// The text of a program's file of this fixed name, if it exists and is UTF-8 of at most 1 MiB.
std::optional<std::string> text_of_file(Importer& importer, const std::filesystem::path& path);

/// The object in a settings file: JSON or JSON5, TOML (`.toml`) or YAML (`.yaml`).
std::optional<json::object> settings_in_file(Importer& importer, const std::filesystem::path& path);

/// Whether a value refers to a variable or a file in the notation of one of these programs, so that it is not a key
/// itself.
bool is_reference(std::string_view value);

/// A Markdown file with a YAML head.
struct HeadedText {
  json::object head;
  std::string body;
};
/// Splits a text; without a head, that of the result is empty. From a head that is not YAML, takes lines `name: value`,
/// as older versions of such programs do, and reports that.
HeadedText headed_text(Importer& importer, const std::filesystem::path& file, const std::string& text);

/// Reports the members of `from`, the settings of `what`, that have no counterpart here: all except `taken`.
void leave_members(Importer& importer, const std::string& what, const json::object& from,
                   std::initializer_list<std::string_view> taken);

/// The definition of an agent with the corresponding model here; if there is none, reports that.
json::object definition_with_model(Importer& importer, const std::string& agent, const std::string& model);

/// Moves the members with a counterpart here from `from`, another program's agent or command, to `definition`: the
/// model, an agent's temperature and its tools that have the same name here, a command's agent. Reports anything that
/// does not exist here.
void take_members(Importer& importer, const std::string& type, const std::string& name, json::object& from,
                  json::object& definition);

/// Creates a disabled agent that represents the program and holds content that has no effect until it is enabled.
/// `model` is the program's model, if known. Returns the agent's name.
std::string import_agent(Importer& importer, const std::string& name, const std::string& program,
                         const std::string& model = {});

/// Creates disabled agents from Markdown files, whose bodies become their prompts.
void import_agents(Importer& importer, const std::filesystem::path& folder);

/// Creates disabled commands from Markdown files and names them after the files.
void import_commands(Importer& importer, const std::filesystem::path& folder);

/// Copies the skill folders below `folder`, which may be grouped by category, to the agent's own skills, which other
/// agents do not see. Skips those in `without`.
void import_skills(Importer& importer, const std::filesystem::path& folder, const std::string& agent,
                   const std::set<std::string>& without = {});

/// Creates disabled integrations from a map of MCP servers in the format of most programs: `command`, `args`, `env`, or
/// `url`, `headers`. Values of `env` and `headers` are treated as keys.
void import_mcp_servers(Importer& importer, const json::object& servers, const std::string& origin);

}  // namespace agw::cli
