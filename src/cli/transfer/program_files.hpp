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

/// The files with this extension in `folder` and below it, in the order of their paths. A symlink is followed to a file
/// in the program's directory or in `folder`; one to a folder is not.
std::vector<std::filesystem::path> files_below(Importer& importer, const std::filesystem::path& folder,
                                               std::string_view extension);

/// Whether an entry of a folder is a folder itself. Reports one that is a symlink, which is not followed.
bool is_folder(Importer& importer, const std::filesystem::directory_entry& entry);

/// Whether there is a file that a program has by this name. It may be a symlink to anywhere: people keep their settings
/// in separate directories.
bool is_named_file(Importer& importer, const std::filesystem::path& path);
/// Whether a file that was found in `folder` can be read. A symlink must stay in the program's directory or in
/// `folder`.
bool is_found_file(Importer& importer, const std::filesystem::path& path, const std::filesystem::path& folder);

/// The text of a file that a program has by this name, if there is one and it is UTF-8 and at most 1 MiB.
std::optional<std::string> text_of_file(Importer& importer, const std::filesystem::path& path);

/// The object in a file of settings: JSON or JSON5, TOML (`.toml`) or YAML (`.yaml`).
std::optional<json::object> settings_in_file(Importer& importer, const std::filesystem::path& path);

/// Whether a value refers to a variable or a file, in the ways that programs have for that: it is no key.
bool is_reference(std::string_view value);

/// A Markdown file with a YAML head.
struct HeadedText {
  json::object head;
  std::string body;
};
/// Without a head, that of the result is empty. From one that is not YAML, lines `name: value` are taken, as older
/// versions of such programs read it; that is reported.
HeadedText headed_text(Importer& importer, const std::filesystem::path& file, const std::string& text);

/// Reports the members of `from`, the settings of `what`, that have no counterpart here: all but `taken`.
void leave_members(Importer& importer, const std::string& what, const json::object& from,
                   std::initializer_list<std::string_view> taken);

/// The definition of an agent whose model is the one here of this name, if there is one: else that is reported.
json::object definition_with_model(Importer& importer, const std::string& agent, const std::string& model);

/// Moves what has a counterpart here from `from`, the members of another program's agent or command, to `definition`:
/// the model, an agent's temperature and those of its tools that have the same name here, a command's agent. What is
/// not here is reported.
void take_members(Importer& importer, const std::string& type, const std::string& name, json::object& from,
                  json::object& definition);

/// Creates the disabled agent that stands for the program, which holds what is inert until it is enabled. `model` is
/// the one that the program uses, if that is known. Returns the agent's name.
std::string import_agent(Importer& importer, const std::string& name, const std::string& program,
                         const std::string& model = {});

/// Creates disabled agents from Markdown files, whose bodies are their prompts.
void import_agents(Importer& importer, const std::filesystem::path& folder);

/// Creates disabled commands from Markdown files, whose names are those of the commands.
void import_commands(Importer& importer, const std::filesystem::path& folder);

/// Copies the folders of skills below `folder`, which may be in folders by category, to the agent's own skills, where
/// nobody else sees them. Those named in `without` stay.
void import_skills(Importer& importer, const std::filesystem::path& folder, const std::string& agent,
                   const std::set<std::string>& without = {});

/// Creates disabled integrations from a map of MCP servers as most programs write it: `command`, `args`, `env`, or
/// `url`, `headers`. Values of `env` and `headers` are keys.
void import_mcp_servers(Importer& importer, const json::object& servers, const std::string& origin);

}  // namespace agw::cli
