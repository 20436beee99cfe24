#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "base/time/time.hpp"
#include "cli/transfer/importer.hpp"
#include "cli/transfer/json_pieces.hpp"

namespace agw::cli {

/// The largest piece of another program's file that is read at once: one conversation, one line.
inline constexpr std::size_t max_piece_bytes = 24 * 1024 * 1024;

/// Seconds since the epoch, as Python writes them, or an ISO 8601 text; no value for anything else, or for a time
/// outside of the years 1 to 9999.
std::optional<Timestamp> time_in(const json::object& object, std::string_view name);
/// Milliseconds since the epoch.
std::optional<Timestamp> time_in_ms(const json::object& object, std::string_view name);

/// Calls `each` with the conversations of all files of an export archive whose names begin with `conversations` and end
/// in `.json`. What cannot be read is left out, with its place. Throws std::runtime_error if there is no such file.
void for_each_conversation(Importer& importer, const std::filesystem::path& path,
                           const std::function<void(json::object conversation)>& each);

/// Calls `each` with the objects of a JSON Lines file, until it returns false. What cannot be read is left out.
void for_each_line(Importer& importer, const std::filesystem::path& path,
                   const std::function<bool(json::object line)>& each);

/// A file's text, if it is UTF-8 and at most 1 MiB; else it is left out.
std::optional<std::string> text_of_file(Importer& importer, const std::filesystem::path& path);

/// A Markdown file with a YAML head.
struct HeadedText {
  json::object head;
  std::string body;
};
/// The head is empty if there is none or it is not YAML.
HeadedText headed_text(const std::string& text);

/// Creates disabled integrations from a map of MCP servers as several programs write it: `command`, `args`, `env`, or
/// `url`, `headers`. Values of `env` and `headers` are keys.
void import_mcp_servers(Importer& importer, const json::object& servers, const std::string& origin);

/// Copies the folders of skills below `folder` to the agent's own skills, where nobody else sees them.
void import_skills(Importer& importer, const std::filesystem::path& folder, const std::string& agent);

/// Creates the disabled agent that stands for the program, which holds what is inert until it is enabled.
void import_agent(Importer& importer, const std::string& name, const std::string& program);

/// Creates disabled commands from Markdown files, whose names are those of the commands.
void import_commands(Importer& importer, const std::filesystem::path& folder);

}  // namespace agw::cli
