#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "cli/transfer/importer.hpp"

namespace agw::cli {

/// A program to import from.
struct ImportSource {
  std::string_view name;     ///< as the argument of `agw import`
  std::string_view program;  ///< for people
  std::string_view where;    ///< its directory below home; empty if a path must be given
  void (*read)(Importer& importer, const std::filesystem::path& path);
};
std::span<const ImportSource> import_sources();

/// An export by this program: `threads.jsonl`, or a folder that contains it.
void read_own_export(Importer& importer, const std::filesystem::path& path);
/// An export archive of ChatGPT, its folder, or one of its `conversations.json`.
void read_chatgpt(Importer& importer, const std::filesystem::path& path);
/// The same for Claude, including its projects.
void read_claude(Importer& importer, const std::filesystem::path& path);
/// Only the projects, which become disabled agents with their instructions and documents.
void read_claude_projects(Importer& importer, const std::filesystem::path& path);
/// The directory `.claude` of Claude Code.
void read_claude_code(Importer& importer, const std::filesystem::path& path);
/// The directory `.codex` of Codex.
void read_codex(Importer& importer, const std::filesystem::path& path);
/// The directory `.hermes` of Hermes Agent.
void read_hermes(Importer& importer, const std::filesystem::path& path);
/// The directory `.config/opencode` of opencode, whose sessions are in `.local/share/opencode` of the same home; or
/// only the latter.
void read_opencode(Importer& importer, const std::filesystem::path& path);
/// The directory `.openclaw` of OpenClaw.
void read_openclaw(Importer& importer, const std::filesystem::path& path);

}  // namespace agw::cli
