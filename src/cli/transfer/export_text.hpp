#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"

namespace agw::cli {

/// The names of files and folders that people provide for agents, and of the agents' notes: in the data directory for
/// all agents, in an agent's own directory for that agent. An export includes them for all agents, and for built-in
/// ones.
inline constexpr std::array<std::string_view, 5> given_to_agents = {"soul.md", "notes.md", "user-profile.md",
                                                                    "knowledge", "skills"};

/// The members of a turn's metadata that list files.
inline constexpr std::array<std::string_view, 2> file_members = {"attachments", "pictures"};

/// The start of a thread's Markdown: a YAML head with the thread's members, and its title.
std::string markdown_head(const json::object& thread);
/// Returns the location of a message's file as a link from the text, by the file's id; nullopt if the file does not
/// exist.
using FileLink = std::function<std::optional<std::string>(const std::string& id)>;

/// A turn in Markdown, with its reasoning as a quotation and its files by name; a tool's input and output are in fences
/// that their text cannot close.
/// Example: src/cli/transfer/export_text_test.cpp: ExportText.FencesAreLongerThanThoseInTheirContent
std::string markdown_turn(const json::object& turn, const FileLink& link);

/// The start of a thread's page: HTML that loads and runs nothing, and can be opened as a file.
std::string html_head(const json::object& thread, const std::vector<std::string>& secrets);
/// A turn of the page. Shows only the names of tools and files. Replaces `secrets` everywhere.
std::string html_turn(const json::object& turn, const std::vector<std::string>& secrets);
std::string html_end();

/// `text` without the values of secrets. If one is a prefix of another, the longer one is replaced first.
/// Example: src/cli/transfer/export_text_test.cpp: ExportText.NoPartOfALongerSecretIsLeft
std::string without_secrets(std::string_view text, const std::vector<std::string>& secrets);

}  // namespace agw::cli
