// A session's events are the same in the database as in the older JSON Lines files;
// https://github.com/JunWan666/openclaw-termux-zh (docs/jsonl_format_guide.md) describes them. In the database, events
// that were not used for a while are compressed.

#include "cli/transfer/openclaw_sessions.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/program_store.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

using SessionTitles = std::map<std::string, std::string>;

/// Blocks have the format of Anthropic's API, except for calls.
void read_openclaw_blocks(const json::array& blocks, SourceMessage& message) {
  for (const auto& block : blocks) {
    const auto* object = block.if_object();
    if (object && string_or_empty(*object, "type") == "toolCall") {
      message.calls.push_back({string_or_empty(*object, "id"), string_or_empty(*object, "name"),
                               object_or_empty(*object, "arguments"), message.text.size()});
    } else {
      read_blocks({&block, 1}, message);
    }
  }
}

/// Whether the text begins with this shape, in which `a` is any letter or digit.
bool has_shape(std::string_view text, std::string_view shape) {
  const auto fits = [](char c, char wanted) { return wanted == 'a' ? is_alphanumeric(c) : c == wanted; };
  return text.size() > shape.size() && std::ranges::equal(text.substr(0, shape.size()), shape, fits);
}

/// What follows the first `size` bytes and blanks.
std::string_view rest_after(std::string_view text, std::size_t size) {
  text.remove_prefix(size);
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  return text;
}

/// What the person wrote. The program puts the time in front, and what it knows of the message and its sender: blocks
/// of a headline with JSON or a paragraph. See src/auto-reply/reply/strip-inbound-meta.ts of
/// https://github.com/openclaw/openclaw.
std::string_view typed_in_openclaw(std::string_view text, SourceMessage& message) {
  for (;;) {
    const auto time_end = has_shape(text, "[aaa aaaa-aa-aa aa:aa") ? text.find(']') : text.npos;
    if (time_end != text.npos) text = rest_after(text, time_end + 1);
    const auto headline = text.substr(0, text.find('\n'));
    const bool is_old = headline.ends_with("(untrusted metadata):") ||
                        (headline.find("(untrusted, ") != headline.npos && headline.ends_with("):"));
    if (!is_old && !headline.ends_with("⟦openclaw:ctx⟧")) break;
    const auto block = text.substr(headline.size());
    const std::string_view end_mark = block.starts_with("\n```json\n") ? "\n```\n" : "\n\n";
    const auto end = block.find(end_mark);
    if (end == block.npos) break;
    message.unknown.emplace_back("context of a channel");
    text = rest_after(block, end + end_mark.size());
  }
  if (!text.starts_with("A new session was started via /new or /reset.")) return text;
  message.unknown.emplace_back("start of a session");
  return {};
}

/// What the assistant wrote, without the mark that makes it an answer to one message of a channel.
std::string_view answered_in_openclaw(std::string_view text) {
  const auto end = text.starts_with("[[reply_to") ? text.find("]]") : text.npos;
  return end == text.npos ? text : rest_after(text, end + 2);
}

SourceMessage openclaw_message(const json::object& line) {
  SourceMessage message{
      .id = string_or_empty(line, "id"), .parent = {}, .role = Role::system, .text = {}, .reasoning = {}};
  if (const auto parent = string_member(line, "parentId")) message.parent = std::string(*parent);
  message.at = time_in(line, "timestamp");
  const auto* from = object_member(line, "message");
  if (string_or_empty(line, "type") != "message" || !from) return message;
  const auto role = string_or_empty(*from, "role");
  SourceMessage said;
  if (const auto text = string_member(*from, "content")) said.text = std::string(*text);
  if (const auto* blocks = array_member(*from, "content")) read_openclaw_blocks(*blocks, said);
  if (role == "toolResult") {
    message.role = Role::tool;
    message.results.push_back({string_or_empty(*from, "toolCallId"), said.text, is_true(*from, "isError")});
    message.files = std::move(said.files);
  } else if (role == "user" || role == "assistant") {
    message.role = role == "user" ? Role::user : Role::assistant;
    message.text = role == "user" ? typed_in_openclaw(said.text, said) : answered_in_openclaw(said.text);
    message.reasoning = std::move(said.reasoning);
    message.calls = std::move(said.calls);
    message.files = std::move(said.files);
    message.model = string_or_empty(*from, "model");
  } else {
    said.unknown.push_back(role);
  }
  message.unknown = std::move(said.unknown);
  return message;
}

/// Events that need no report. Others record the program's own actions, such as compaction.
constexpr auto quiet_events =
    std::to_array<std::string_view>({"message", "model_change", "thinking_level_change", "label", "session_info"});

/// Adds an event of a session to its conversation.
void add_event(Importer& importer, const json::object& event, SourceConversation& conversation) {
  const auto type = string_or_empty(event, "type");
  if (type == "session") {
    if (!conversation.head.created_at) conversation.head.created_at = time_in(event, "timestamp");
    return;
  }
  if (!contains(quiet_events, type))
    importer.leave_one_of(fmt::format("events `{}` of sessions", type), "have no counterpart here");
  auto message = openclaw_message(event);
  leave_parts(importer, message);
  auto& messages = conversation.messages;
  // In old sessions, messages follow each other in file order.
  if (message.id.empty()) {
    message.id = fmt::format("event-{}", messages.size());
    if (!messages.empty()) message.parent = messages.back().id;
    take_files(importer, conversation.head.key, message);
  }
  messages.push_back(std::move(message));
}

void finish_session(Importer& importer, const std::string& what, SourceConversation conversation) {
  const bool is_empty =
      std::ranges::all_of(conversation.messages, [](const auto& each) { return each.role == Role::system; });
  if (is_empty) return importer.leave(what, "has no messages");
  import_conversation(importer, std::move(conversation));
}

std::string openclaw_key(const std::string& agent, const std::string& session) {
  return fmt::format("{}/{}", agent, session);
}

void read_openclaw_file(Importer& importer, const fs::path& file, const std::string& agent,
                        const SessionTitles& titles) {
  if (fs::file_size(file) > max_piece_bytes) return importer.leave(file.string(), "is larger than 24 MiB");
  SourceConversation conversation;
  conversation.head.key = openclaw_key(agent, file.stem().string());
  if (const auto title = titles.find(file.stem().string()); title != titles.end())
    conversation.head.title = shortened(title->second, 200);
  for_each_line(importer, file, [&](const json::object& line) {
    add_event(importer, line, conversation);
    return true;
  });
  finish_session(importer, file.string(), std::move(conversation));
}

/// The titles of an agent's sessions by id. The program's list contains only current ones, by other keys.
SessionTitles openclaw_titles(Importer& importer, const fs::path& folder) {
  SessionTitles titles;
  if (!fs::exists(folder / "sessions.json")) return titles;
  const auto sessions = settings_in_file(importer, folder / "sessions.json").value_or(json::object());
  for (const auto& [key, value] : sessions) {
    if (!value.is_object()) continue;
    auto title = string_or_empty(value.get_object(), "label");
    if (!title.empty()) titles[string_or_empty(value.get_object(), "sessionId")] = std::move(title);
  }
  return titles;
}

void read_openclaw_files(Importer& importer, const fs::path& folder, const std::string& agent) {
  const auto titles = openclaw_titles(importer, folder);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_folder(importer, entry) || entry.path().filename() == "sessions.json") continue;
    if (entry.path().extension() != ".jsonl") {
      importer.leave_one_of("files in " + folder.string(),
                            "are of sessions that were deleted or begun anew, or its state");
      continue;
    }
    const auto name = entry.path().filename().string();
    if (name.ends_with(".trajectory.jsonl") || name.find(".checkpoint.") != name.npos)
      importer.leave_one_of("files in " + folder.string(), "are copies or traces of sessions that are read");
    else if (is_found_file(importer, entry.path(), folder))
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    importer.show_progress("sessions", i, files.size());
    read_openclaw_file(importer, files[i], agent, titles);
  }
}

/// The database's data about the current session of each key.
std::map<std::string, json::object> nodes_in(ProgramStore& store) {
  std::map<std::string, json::object> nodes;
  store.for_each_row("session_nodes", "session_key", [&](json::object row) {
    row.erase("entry_json");
    auto id = string_or_empty(row, "current_session_id");
    nodes[std::move(id)] = std::move(row);
  });
  return nodes;
}

ImportedThread openclaw_head(const std::string& agent, const json::object& window, const json::object& node) {
  ImportedThread head{.key = openclaw_key(agent, string_or_empty(window, "session_id")), .turns = {}};
  for (const auto& title : {string_or_empty(node, "label"), string_or_empty(node, "display_name"),
                            string_or_empty(window, "display_name")}) {
    if (!title.empty() && !head.title) head.title = shortened(title, 200);
  }
  // A session started by another agent is not a person's conversation.
  head.archived = node.contains("archived_at") || !string_or_empty(window, "spawned_by").empty();
  head.created_at = time_in_ms(window, "created_at");
  head.updated_at = time_in_ms(window, "updated_at");
  return head;
}

void read_openclaw_window(Importer& importer, ProgramStore& store, ImportedThread head, const std::string& id) try {
  SourceConversation conversation{.head = std::move(head), .project = {}, .messages = {}, .current = {}};
  std::size_t bytes = 0;
  store.for_each_row("transcript_events", "session_id", id, "seq", [&](const json::object& row) {
    auto text = string_or_empty(row, "event_json");
    if (text.empty()) text = string_or_empty(row, "event_zstd");
    bytes += text.size();
    if (bytes > max_piece_bytes) throw std::runtime_error("is larger than 24 MiB");
    const auto event = source_json(importer, text, "session " + id);
    if (event && event->is_object()) add_event(importer, event->get_object(), conversation);
  });
  finish_session(importer, "session " + id, std::move(conversation));
} catch (const std::runtime_error& error) {
  importer.leave("session " + id, error.what());
}

void read_openclaw_database(Importer& importer, const fs::path& file, const std::string& agent) try {
  ProgramStore store(file);
  const auto nodes = nodes_in(store);
  const auto total = store.count("session_windows");
  std::uint64_t count = 0;
  store.for_each_row("session_windows", "created_at, session_id", [&](const json::object& window) {
    importer.show_progress("sessions", count++, total);
    const auto id = string_or_empty(window, "session_id");
    const auto node = nodes.find(id);
    read_openclaw_window(importer, store,
                         openclaw_head(agent, window, node == nodes.end() ? json::object() : node->second), id);
  });
} catch (const DatabaseError& error) {
  importer.leave(file.string(), fmt::format("cannot be read: {}", error.what()));
}

}  // namespace

void import_openclaw_sessions(Importer& importer, const fs::path& agents) {
  if (!fs::is_directory(agents)) return;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(agents)) {
    if (is_folder(importer, entry) && !entry.is_symlink()) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  for (const auto& folder : folders) {
    const auto agent = folder.filename().string();
    const auto database = folder / "agent" / "openclaw-agent.sqlite";
    if (is_named_file(importer, database)) read_openclaw_database(importer, database, agent);
    if (fs::is_directory(folder / "sessions")) read_openclaw_files(importer, folder / "sessions", agent);
  }
}

}  // namespace agw::cli
