// The directory of Claude Code: CLAUDE.md, skills/, commands/, agents/, settings.json, and transcripts in
// projects/<directory>/<session>.jsonl. MCP servers are in ~/.claude.json, next to the directory, or in it. Documented
// at https://docs.claude.com/en/docs/claude-code/settings, …/slash-commands, …/sub-agents and …/mcp.

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "base/json/json_values.hpp"
#include "cli/transfer/claude_transcripts.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/readers.hpp"
#include "config/environment.hpp"

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

/// As the program has it.
constexpr int max_import_depth = 5;
constexpr std::string_view from_home = "@~/";

constexpr std::string_view has_no_counterpart = "permissions and hooks have no counterpart: see docs/approvals.md";

constexpr auto contents = std::to_array<KnownEntry>({
    {".claude.json"},
    {"CLAUDE.md"},
    {"agents"},
    {"commands"},
    {"projects"},
    {"skills"},
    {".credentials.json", has_logins},
    {"agent-memory", "is what its agents remember: copy what you need into knowledge"},
    {"history.jsonl", "is what was typed, which the transcripts have"},
    {"hooks", has_no_counterpart},
    {"keybindings.json", "sets keys of that program's terminal"},
    {"output-styles", "output styles have no counterpart: put their text into the soul of an agent"},
    {"plans", "are plans of its sessions: copy what you need into knowledge"},
    {"plugins", "plugins are not taken: add what you need of them by hand"},
    {"rules", "rules are not taken: put their text into the soul of an agent"},
    {"settings.json", has_no_counterpart},
    {"settings.local.json", has_no_counterpart},
    {"tasks", "are lists of tasks of its sessions"},
    {"todos", "are lists of tasks of its sessions"},
    {"backups", is_state},
    {"cache", is_state},
    {"debug", is_state},
    {"downloads", is_state},
    {"file-history", is_state},
    {"ide", is_state},
    {"image-cache", is_state},
    {"local", is_state},
    {"logs", is_state},
    {"paste-cache", is_state},
    {"session-env", is_state},
    {"sessions", is_state},
    {"shell-snapshots", is_state},
    {"stats-cache.json", is_state},
    {"statsig", is_state},
    {"telemetry", is_state},
    {"usage-data", is_state},
});

/// The instructions in a file, with those of the files that its lines `@path` import, each once.
std::optional<std::string> instructions_in(Importer& importer, const fs::path& file, std::set<fs::path>& taken,
                                           int depth = 0) {
  std::error_code failed;
  const bool is_new = depth <= max_import_depth && taken.insert(fs::weakly_canonical(file, failed)).second;
  const auto text = is_new ? text_of_file(importer, file) : std::nullopt;
  if (!text) return std::nullopt;
  std::vector<std::string> lines;
  boost::split(lines, *text, boost::is_any_of("\n"));
  bool is_code = false;
  for (auto& line : lines) {
    if (line.starts_with("```")) is_code = !is_code;
    const auto written = boost::trim_copy(line);
    if (is_code || written.size() < 2 || written.front() != '@') continue;
    const bool is_in_home = written.starts_with(from_home);
    const auto folder = is_in_home ? process_environment()("HOME").value_or("") : file.parent_path().string();
    const auto name = written.substr(is_in_home ? from_home.size() : 1);
    if (auto imported = instructions_in(importer, fs::path(folder) / name, taken, depth + 1))
      line = *std::move(imported);
  }
  return boost::algorithm::join(lines, "\n");
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.is_directory(failed)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

/// Reports the entries next to the transcripts of each project.
void leave_notes(Importer& importer, const fs::path& projects) {
  constexpr auto beside = std::to_array<KnownEntry>(
      {{"memory", "is what the program remembers of a project: copy what you need into knowledge"}, {"*"}});
  constexpr auto within =
      std::to_array<KnownEntry>({{"tool-results", "has outputs of tools that are too long for a transcript"}, {"*"}});
  for (const auto& project : folders_in(projects)) {
    leave_entries(importer, project, beside);
    for (const auto& session : folders_in(project)) leave_entries(importer, session, within);
  }
}

}  // namespace

void read_claude_code(Importer& importer, const fs::path& path) {
  // CLAUDE_CONFIG_DIR moves the file into the directory.
  const auto inside = path / ".claude.json", beside = path.parent_path() / ".claude.json";
  if (!fs::is_directory(path) || !fs::exists(beside)) require_contents(path, contents, "Claude Code");
  const auto agent = import_agent(importer, "claude-code", "Claude Code");
  std::set<fs::path> taken;
  if (const auto text = instructions_in(importer, path / "CLAUDE.md", taken))
    importer.add_identity("soul", agent, *text, (path / "CLAUDE.md").string());
  import_skills(importer, path / "skills", agent);
  import_commands(importer, path / "commands");
  import_agents(importer, path / "agents");
  read_servers(importer, fs::exists(inside) ? inside : beside);
  std::vector<std::string> imported;
  for (const auto& file : taken) imported.push_back(file.filename().string());
  std::vector<KnownEntry> known(contents.begin(), contents.end());
  for (const auto& name : imported) known.push_back({name});
  leave_entries(importer, path, known);
  leave_notes(importer, path / "projects");
  import_claude_transcripts(importer, path / "projects");
}

}  // namespace agw::cli
