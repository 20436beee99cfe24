// The directory of Claude Code: CLAUDE.md, skills/, commands/, agents/, settings.json, and transcripts in
// projects/<directory>/<session>.jsonl. MCP servers are in ~/.claude.json, next to the directory. Documented at
// https://docs.claude.com/en/docs/claude-code/settings, …/slash-commands, …/sub-agents and …/mcp; transcripts are not
// documented, their lines have `type`, `uuid`, `parentUuid`, `timestamp`, `cwd` and an Anthropic `message`.

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

/// A longer transcript is taken line by line, without forks.
constexpr std::uintmax_t max_tree_bytes = 16 * 1024 * 1024;

std::optional<SourceMessage> transcript_message(const json::object& line) {
  const auto type = string_or_empty(line, "type");
  const auto* from = object_member(line, "message");
  const auto id = string_or_empty(line, "uuid");
  if ((type != "user" && type != "assistant") || !from || id.empty() || is_true(line, "isSidechain")) return {};
  SourceMessage message{.id = id, .parent = {}, .role = Role::user, .text = {}, .reasoning = {}};
  if (const auto parent = string_member(line, "parentUuid")) message.parent = std::string(*parent);
  if (type == "assistant") message.role = Role::assistant;
  message.at = time_in(line, "timestamp");
  message.model = string_or_empty(*from, "model");
  if (const auto text = string_member(*from, "content")) message.text = std::string(*text);
  if (const auto* blocks = array_member(*from, "content")) read_blocks(*blocks, message);
  // What the program itself inserted is no word of the person.
  if (is_true(line, "isMeta")) message.text.clear();
  return message;
}

struct Transcript {
  ImportedThread head;
  std::optional<fs::path> project;

  void inspect(const json::object& line) {
    const auto cwd = string_or_empty(line, "cwd");
    if (!project && !cwd.empty()) project = cwd;
    if (string_or_empty(line, "type") == "summary") {
      const auto summary = string_or_empty(line, "summary");
      if (!summary.empty()) head.title = shortened(summary, 200);
    }
  }
};

void stream_transcript(Importer& importer, const fs::path& file, Transcript& transcript) {
  for_each_line(importer, file, [&](const json::object& line) {
    transcript.inspect(line);
    return !transcript.project;
  });
  importer.begin_thread(transcript.head, transcript.project);
  TurnWriter turns(importer);
  for_each_line(importer, file, [&](const json::object& line) {
    if (const auto message = transcript_message(line)) turns.add(*message);
    return true;
  });
  turns.finish();
}

/// Lines that are no messages are part of the tree, too: they connect those around them.
void read_transcript(Importer& importer, const fs::path& file) {
  Transcript transcript;
  transcript.head.key = file.stem().string();
  if (fs::file_size(file) > max_tree_bytes) return stream_transcript(importer, file, transcript);
  SourceConversation conversation;
  for_each_line(importer, file, [&](const json::object& line) {
    transcript.inspect(line);
    if (auto message = transcript_message(line)) {
      conversation.messages.push_back(*std::move(message));
    } else if (const auto id = string_or_empty(line, "uuid"); !id.empty() && !is_true(line, "isSidechain")) {
      SourceMessage link{.id = id, .parent = {}, .role = Role::system, .text = {}, .reasoning = {}};
      if (const auto parent = string_member(line, "parentUuid")) link.parent = std::string(*parent);
      conversation.messages.push_back(std::move(link));
    }
    return true;
  });
  const bool is_empty =
      std::ranges::all_of(conversation.messages, [](const auto& each) { return each.role == Role::system; });
  if (is_empty) return importer.leave(file.string(), "has no messages");
  conversation.head = std::move(transcript.head);
  conversation.project = std::move(transcript.project);
  import_conversation(importer, std::move(conversation));
}

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
  const auto files = files_below(path / "projects", ".jsonl");
  for (std::size_t i = 0; i < files.size(); ++i) {
    importer.show_progress("transcripts", i, files.size());
    read_transcript(importer, files[i]);
  }
}

}  // namespace agw::cli
