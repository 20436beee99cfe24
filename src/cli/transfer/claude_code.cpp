// The directory of Claude Code: CLAUDE.md, skills/, commands/, agents/, settings.json, and transcripts in
// projects/<directory>/<session>.jsonl. MCP servers are in ~/.claude.json, next to the directory. Documented at
// https://docs.claude.com/en/docs/claude-code/settings, …/slash-commands, …/sub-agents and …/mcp.

#include <filesystem>
#include <stdexcept>

#include "base/json/json_values.hpp"
#include "cli/transfer/claude_transcripts.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/readers.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

void read_servers(Importer& importer, const fs::path& file) {
  const auto settings = settings_in_file(importer, file);
  if (!settings) return;
  if (const auto* servers = object_member(*settings, "mcpServers"))
    import_mcp_servers(importer, *servers, file.filename().string());
  if (const auto* projects = object_member(*settings, "projects")) {
    for (const auto& [path, project] : *projects) {
      const auto* servers = project.is_object() ? object_member(project.get_object(), "mcpServers") : nullptr;
      if (servers) import_mcp_servers(importer, *servers, std::string(path));
    }
  }
}

}  // namespace

void read_claude_code(Importer& importer, const fs::path& path) {
  if (!fs::is_directory(path)) throw std::runtime_error(path.string() + ": there is no such folder");
  const auto agent = import_agent(importer, "claude-code", "Claude Code");
  if (const auto text = text_of_file(importer, path / "CLAUDE.md"))
    importer.add_identity("soul", agent, *text, (path / "CLAUDE.md").string());
  import_skills(importer, path / "skills", agent);
  import_commands(importer, path / "commands");
  import_agents(importer, path / "agents");
  read_servers(importer, path.parent_path() / ".claude.json");
  if (fs::exists(path / "settings.json"))
    importer.leave((path / "settings.json").string(),
                   "permissions and hooks have no counterpart: see docs/approvals.md");
  import_claude_transcripts(importer, path / "projects");
}

}  // namespace agw::cli
