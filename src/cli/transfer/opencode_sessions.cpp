// The tables `session`, `message` and `part` of the database contain the JSON that was in files before: in storage/
// these are session/<project>/<session>.json, message/<session>/<message>.json and part/<message>/<part>.json, whose
// names sort by time. Messages and parts are defined in packages/opencode/src/session/message-v2.ts of
// https://github.com/anomalyco/opencode.

#include "cli/transfer/opencode_sessions.hpp"

#include <array>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/transfer/byte_source.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/program_store.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

using TakeMessage = std::function<void(const SourceMessage& message)>;

json::object opencode_data(Importer& importer, const json::object& row) {
  auto data = source_json(importer, string_or_empty(row, "data"), string_or_empty(row, "id"));
  return data && data->is_object() ? std::move(data->get_object()) : json::object();
}

void read_opencode_file(const json::object& part, SourceMessage& message) {
  const auto name = string_or_empty(part, "filename");
  if (auto file = file_in_url(name, string_or_empty(part, "url")))
    message.files.push_back(*std::move(file));
  else
    add_paragraph(message.text, fmt::format("[file: {}]", name));
}

/// Uses the unique id of the part instead of the call's, which the model chose.
void read_opencode_call(const std::string& id, const json::object& part, SourceMessage& message) {
  const auto state = object_or_empty(part, "state");
  message.calls.push_back({id, string_or_empty(part, "tool"), object_or_empty(state, "input"), message.text.size()});
  const auto status = string_or_empty(state, "status");
  if (status == "completed") message.results.push_back({id, string_or_empty(state, "output")});
  const auto* attachments = array_member(state, "attachments");
  for (const auto& each : attachments ? *attachments : json::array()) {
    if (!each.is_object()) continue;
    auto name = string_or_empty(each.get_object(), "filename");
    if (name.empty()) name = "file";
    if (auto file = file_in_url(std::move(name), string_or_empty(each.get_object(), "url")))
      message.files.push_back(*std::move(file));
  }
  if (status == "error") message.results.push_back({id, string_or_empty(state, "error"), true});
}

void read_opencode_part(const std::string& id, const json::object& part, SourceMessage& message) {
  const auto type = string_or_empty(part, "type");
  // The program itself writes the content of files that a person named.
  if (type == "text" && is_true(part, "synthetic"))
    message.unknown.emplace_back("synthetic text");
  else if (type == "text")
    add_paragraph(message.text, string_or_empty(part, "text"));
  else if (type == "subtask")
    add_paragraph(message.text, string_or_empty(part, "prompt"));
  else if (type == "reasoning")
    add_paragraph(message.reasoning, string_or_empty(part, "text"));
  else if (type == "file")
    read_opencode_file(part, message);
  else if (type == "tool")
    read_opencode_call(id, part, message);
  else if (!type.starts_with("step-"))
    message.unknown.push_back(type);
}

/// A message without its parts.
SourceMessage opencode_message(const std::string& id, const json::object& data) {
  SourceMessage message{.id = id, .parent = {}, .role = Role::user, .text = {}, .reasoning = {}};
  if (string_or_empty(data, "role") == "assistant") message.role = Role::assistant;
  message.model = string_or_empty(data, "modelID");
  return message;
}

/// Passes the messages of a session, in order, to its argument.
using ReadMessages = std::function<void(const TakeMessage& take)>;

/// Writes the messages that come before the one that `/undo` named or, if `are_undone`, that message and all later
/// ones. Returns false if there are none.
bool write_opencode_messages(Importer& importer, const ImportedThread& head, const fs::path& directory,
                             const json::object& undone, bool are_undone, const ReadMessages& read) {
  bool begun = false;
  bool is_undone = false;
  TurnWriter turns(importer);
  read([&](const SourceMessage& message) {
    const bool is_named = message.id == string_or_empty(undone, "messageID");
    // Of a message with `partID`, only parts were undone.
    is_undone = is_undone || (is_named && !undone.contains("partID"));
    const bool is_wanted = is_undone == are_undone;
    is_undone = is_undone || is_named;
    if (is_wanted) leave_parts(importer, message);
    if (!is_wanted || !has_content(message)) return;
    if (!std::exchange(begun, true)) importer.begin_thread(head, directory);
    turns.add(message);
  });
  turns.finish();
  return begun;
}

void write_opencode_session(Importer& importer, ImportedThread head, const fs::path& directory,
                            const json::object& undone, const ReadMessages& read) {
  const bool any = write_opencode_messages(importer, head, directory, undone, false, read);
  const auto title = head.title.value_or(head.key);
  head.key += "/taken-back";
  head.title = title + " (fork 1)";
  const bool any_undone = !undone.empty() && write_opencode_messages(importer, head, directory, undone, true, read);
  if (!any && !any_undone) importer.leave("session " + title, "has no messages");
}

void read_opencode_row(Importer& importer, ProgramStore& store, const json::object& row) try {
  ImportedThread head{.key = string_or_empty(row, "id"), .turns = {}};
  if (auto title = string_or_empty(row, "title"); !title.empty()) head.title = std::move(title);
  // A session started by another agent is not a person's conversation.
  head.archived = row.contains("time_archived") || row.contains("parent_id");
  head.created_at = time_in_ms(row, "time_created");
  head.updated_at = time_in_ms(row, "time_updated");
  const auto undone = parse_json(string_or_empty(row, "revert")).value_or(nullptr);
  const auto* from = undone.if_object();
  const auto id = head.key;
  write_opencode_session(
      importer, std::move(head), string_or_empty(row, "directory"), from ? *from : json::object(),
      [&](const TakeMessage& take) {
        store.for_each_row("message", "session_id", id, "time_created, id", [&](const json::object& each) {
          auto message = opencode_message(string_or_empty(each, "id"), opencode_data(importer, each));
          message.at = time_in_ms(each, "time_created");
          store.for_each_row("part", "message_id", message.id, "id", [&](const json::object& part) {
            read_opencode_part(string_or_empty(part, "id"), opencode_data(importer, part), message);
          });
          take(message);
        });
      });
} catch (const DatabaseError& error) {
  importer.leave("session " + string_or_empty(row, "title"), error.what());
}

void read_opencode_database(Importer& importer, const fs::path& file) try {
  ProgramStore store(file);
  std::uint64_t count = 0;
  const auto total = store.count("session");
  store.for_each_row("session", "time_created, id", [&](const json::object& row) {
    importer.show_progress("sessions", count++, total);
    read_opencode_row(importer, store, row);
  });
} catch (const DatabaseError& error) {
  importer.leave(file.string(), fmt::format("cannot be read: {}", error.what()));
}

/// The object in a file. If there is none, reports that and returns an empty object.
json::object object_in_file(Importer& importer, const fs::path& file) try {
  if (fs::file_size(file) > max_piece_bytes) throw std::runtime_error("is larger than 24 MiB");
  auto value = source_json(importer, content_of(bytes_of_file(file)), file.string());
  if (value && value->is_object()) return std::move(value->get_object());
  throw std::runtime_error("is not JSON");
} catch (const std::runtime_error& error) {
  importer.leave(file.string(), error.what());
  return {};
}

/// Reads a session's messages one after another, with their parts.
void read_stored_session(Importer& importer, const fs::path& storage, const fs::path& file) {
  const auto session = object_in_file(importer, file);
  if (session.empty()) return;
  ImportedThread head{.key = file.stem().string(), .turns = {}};
  if (auto title = string_or_empty(session, "title"); !title.empty()) head.title = std::move(title);
  const auto time = object_or_empty(session, "time");
  head.archived = time.contains("archived") || session.contains("parentID");
  head.created_at = time_in_ms(time, "created");
  head.updated_at = time_in_ms(time, "updated");
  const auto messages = storage / "message" / head.key;
  write_opencode_session(importer, std::move(head), string_or_empty(session, "directory"),
                         object_or_empty(session, "revert"), [&](const TakeMessage& take) {
                           for (const auto& place : files_below(importer, messages, ".json")) {
                             const auto data = object_in_file(importer, place);
                             if (data.empty()) continue;
                             auto message = opencode_message(place.stem().string(), data);
                             message.at = time_in_ms(object_or_empty(data, "time"), "created");
                             for (const auto& part : files_below(importer, storage / "part" / message.id, ".json"))
                               read_opencode_part(part.stem().string(), object_in_file(importer, part), message);
                             take(message);
                           }
                         });
}

void read_stored_sessions(Importer& importer, const fs::path& storage) {
  const auto files = files_below(importer, storage / "session", ".json");
  for (std::size_t i = 0; i < files.size(); ++i) {
    importer.show_progress("sessions", i, files.size());
    read_stored_session(importer, storage, files[i]);
  }
}

}  // namespace

void import_opencode_sessions(Importer& importer, const fs::path& folder) {
  constexpr auto contents = std::to_array<KnownEntry>({
      {"opencode.db*"},
      {"auth.json", has_logins},
      {"mcp-auth.json", has_logins},
      {"plans", "are plans of its sessions: copy what you need into knowledge"},
      {"worktree", "has copies of projects"},
      {".*", is_state},
      {"bin", is_state},
      {"log", is_state},
      {"project", is_state},
      {"repos", is_state},
      {"snapshot", is_state},
      {"storage"},
      {"tool-output", "has outputs of tools that are too long for a session"},
  });
  constexpr auto stored = std::to_array<KnownEntry>({
      {"message"},
      {"part"},
      {"session"},
      {"agent-usage-reminder", is_state},
      {"migration", is_state},
      {"project", is_state},
      {"session_diff", is_state},
      {"todo", "are lists of tasks of its sessions"},
  });
  leave_entries(importer, folder, contents);
  if (is_named_file(importer, folder / "opencode.db")) return read_opencode_database(importer, folder / "opencode.db");
  leave_entries(importer, folder / "storage", stored);
  read_stored_sessions(importer, folder / "storage");
}

}  // namespace agw::cli
