#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"

namespace agw::cli {

/// The names of files and folders that people give to agents, and of what these noted: of all in the data directory, of
/// one in its own. An export has those of all, and of built-in agents.
inline constexpr std::array<std::string_view, 5> given_to_agents = {"soul.md", "notes.md", "user-profile.md",
                                                                    "knowledge", "skills"};

/// The beginning of a thread's Markdown: a YAML head with the thread's members, and its title.
std::string markdown_head(const json::object& thread);
/// The place of a message's file, by its id, as a link from the text; none if there is no such file.
using FileLink = std::function<std::optional<std::string>(const std::string& id)>;

/// A turn in Markdown, with its reasoning as a quotation and its files by name; a tool's input and output are in fences
/// that they cannot end.
/// Example: src/cli/transfer/export_text_test.cpp: ExportText.FencesOutliveWhatTheyHold
std::string markdown_turn(const json::object& turn, const FileLink& link);

/// The beginning of a thread's page: HTML that loads nothing, runs nothing and opens from a file.
std::string html_head(const json::object& thread, const std::vector<std::string>& secrets);
/// A turn of the page. Of a tool only its name is shown, and of a file. `secrets` are replaced wherever they stand.
std::string html_turn(const json::object& turn, const std::vector<std::string>& secrets);
std::string html_end();

/// `text` without the values of secrets. Where one begins with another, the longer one is meant.
/// Example: src/cli/transfer/export_text_test.cpp: ExportText.NoPartOfALongerSecretIsLeft
std::string without_secrets(std::string_view text, const std::vector<std::string>& secrets);

}  // namespace agw::cli
