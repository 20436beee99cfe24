// A file of a session, sessions/YYYY/MM/DD/rollout-<time>-<session>.jsonl, is called a rollout. Old ones are compressed
// (`.jsonl.zst`). Its lines are `timestamp`, `type` and `payload`, defined as RolloutLine in
// https://github.com/openai/codex (codex-rs/protocol/src/protocol.rs). A `response_item` is an item of OpenAI's
// Responses API. The oldest sessions have the items themselves as lines.
//
// Since 0.146 the first line may have a `history_base`: the rollout continues another one, and includes those of its
// lines that have a smaller `ordinal`. So a fork refers to the session that it parted from, and a session that was
// resumed or taken back to an earlier message has several rollouts, `…-<session>_<rollout>.jsonl`. Before that, a fork
// begins with a copy of all lines, and `thread_rolled_back` names the number of questions that were taken back.

#include "cli/transfer/codex_sessions.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string/trim.hpp>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "cli/transfer/byte_source.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/json_pieces.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/source_values.hpp"
#include "features/threads/types.hpp"
#include "io/files/archive.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

/// How texts begin that Codex sends as messages of the person: the environment, instructions, what happened meanwhile.
constexpr auto codex_openings = std::to_array<std::string_view>(
    {"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<skill>",
     "<turn_aborted>", "<subagent_notification>", "<hook_prompt", "<internal_model_context", "<recommended_plugins>",
     "<codex_internal_context", "<goal_context>", "<extension_context>", "<external_"});

bool is_of_codex(std::string_view text) {
  return std::ranges::any_of(codex_openings, [&](std::string_view opening) { return text.starts_with(opening); });
}

/// Whether the text only marks where a picture or sound begins or ends.
bool is_file_mark(std::string_view text) {
  const bool is_end = text == "</image>" || text == "</audio>";
  const bool is_begin = text.starts_with("<image name=") || text.starts_with("<audio name=");
  return is_end || text == "<image>" || text == "<audio>" || (is_begin && text.ends_with('>'));
}

/// What the person wrote of a text; the kinds of the rest are added to `unknown`.
std::string typed_in_codex(std::string_view text, SourceMessage& message) {
  constexpr std::string_view typed = "<user_shell_command>\n<command>\n", request = "## My request for Codex:";
  const auto command = text.starts_with(typed) ? between(text, typed, "\n</command>") : std::string_view();
  if (!command.empty()) {
    message.unknown.emplace_back("output of a typed command");
    return fmt::format("!{}", command);
  }
  const auto begin = text.starts_with("# Context from my IDE setup:") ? text.rfind(request) : text.npos;
  if (begin == text.npos) return std::string(text);
  message.unknown.emplace_back("context of an editor");
  text.remove_prefix(begin + request.size());
  return boost::trim_copy(std::string(text));
}

std::string summary_of(const json::object& item) {
  std::string text;
  const auto* summary = array_member(item, "summary");
  for (const auto& part : summary ? *summary : json::array()) {
    if (part.is_object()) add_paragraph(text, string_or_empty(part.get_object(), "text"));
  }
  return text;
}

/// Pictures in a result become files of its message.
void read_codex_result(const json::object& item, SourceMessage& message) {
  SourceResult result{.call_id = string_or_empty(item, "call_id"), .output = {}};
  const auto* output = item.if_contains("output");
  if (output && output->is_array()) {
    SourceMessage inner;
    read_blocks(output->get_array(), inner);
    result.output = std::move(inner.text);
    std::ranges::move(inner.files, std::back_inserter(message.files));
    std::ranges::move(inner.unknown, std::back_inserter(message.unknown));
  } else if (output) {
    result.output = output->is_object() ? text_or_json(output->get_object(), "content") : text_or_json(*output);
  }
  // Older sessions store the output of a shell as JSON in a text.
  const auto parsed = result.output.starts_with('{') ? parse_json(result.output) : std::nullopt;
  if (parsed && parsed->is_object() && parsed->get_object().contains("output"))
    result.output = text_or_json(parsed->get_object(), "output");
  message.results.push_back(std::move(result));
}

/// A call executed by the service itself has no separate result.
void read_hosted_call(const json::object& item, const std::string& id, SourceMessage& message) {
  message.results.push_back({id, string_or_empty(item, "revised_prompt")});
  const auto picture = "data:image/png;base64," + string_or_empty(item, "result");
  if (!item.contains("result")) return;
  if (auto file = file_in_url("picture.png", picture)) message.files.push_back(*std::move(file));
}

/// Returns whether some of the texts are the program's, which are left out.
bool read_typed(const json::array& content, SourceMessage& message) {
  bool any_is_own = false;
  for (const auto& part : content) {
    const auto text = part.is_object() ? string_member(part.get_object(), "text") : std::nullopt;
    if (!text)
      read_blocks({&part, 1}, message);
    else if (is_of_codex(*text))
      any_is_own = true;
    else if (!is_file_mark(*text))
      add_paragraph(message.text, typed_in_codex(*text, message));
  }
  return any_is_own;
}

std::int64_t integer_in(const json::object& object, std::string_view name, std::int64_t otherwise) {
  const auto* value = object.if_contains(name);
  return value && value->is_int64() ? value->get_int64() : otherwise;
}

/// The item in a line, or null.
const json::object* item_in(const json::object& line) {
  const auto type = string_or_empty(line, "type");
  const auto* payload = object_member(line, "payload");
  if (!payload) return type.empty() ? nullptr : &line;
  return type == "response_item" ? payload : nullptr;
}

constexpr auto no_end = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t before_all = -1;

struct Rollout {
  fs::path file;
  std::string id;
  std::string session;
  bool is_archived = false;
  bool is_of_agent = false;  ///< of a session that another agent started
  std::optional<fs::path> project{};
  std::optional<Timestamp> created_at{};
  std::string base{};         ///< the id of the rollout that it continues
  std::int64_t base_end = 0;  ///< the ordinal of the first line that it does not have of that one
  std::int64_t begin = 0;     ///< the ordinal of its first line that is not copied from the session of its parent
};

/// A rollout up to an ordinal.
struct Part {
  const Rollout* rollout;
  std::int64_t end = no_end;
};

void for_each_object(const fs::path& file, const std::function<bool(const json::object&)>& each) {
  TextLines lines(unpacked_bytes_of_file(file), max_piece_bytes);
  std::string line;
  std::size_t replaced = 0;
  while (lines.next(line)) {
    const auto value = parse_source_json(line, replaced);
    if (value && value->is_object() && !each(value->get_object())) return;
  }
}

constexpr std::string_view extension = ".jsonl";

Rollout rollout_in(const fs::path& file, bool is_archived) {
  const auto file_name = file.filename().string();
  const auto name = file_name.substr(0, file_name.find(extension));
  Rollout rollout{.file = file, .id = {}, .session = name, .is_archived = is_archived};
  // In a fork of older versions, the line about the original session follows.
  for_each_object(file, [&](const json::object& line) {
    const auto* payload = object_member(line, "payload");
    const bool is_meta = payload ? string_member(line, "type") == "session_meta" : !line.contains("type");
    if (!is_meta) return false;
    const auto& meta = payload ? *payload : line;
    if (auto id = string_or_empty(meta, "id"); !id.empty()) rollout.session = std::move(id);
    if (auto cwd = string_or_empty(meta, "cwd"); !cwd.empty()) rollout.project = std::move(cwd);
    rollout.created_at = time_in(line, "timestamp");
    if (!rollout.created_at) rollout.created_at = time_in(meta, "timestamp");
    rollout.is_of_agent =
        object_or_empty(meta, "source").contains("subagent") || string_member(meta, "thread_source") == "subagent";
    rollout.begin = integer_in(meta, "subagent_history_start_ordinal", 0);
    const auto base = object_or_empty(meta, "history_base");
    // The parent's session has what an agent inherits of it.
    if (!rollout.is_of_agent) rollout.base = string_or_empty(base, "thread_id");
    rollout.base_end = integer_in(base, "end_ordinal_exclusive", 0);
    return false;
  });
  const auto mark = rollout.session + '_';
  const auto at = name.find(mark);
  rollout.id = at == name.npos ? rollout.session : name.substr(at + mark.size());
  return rollout;
}

/// Whether an item is a question that `thread_rolled_back` counts. Typed commands do not count.
bool is_question(const json::object& item) {
  const auto* content = array_member(item, "content");
  if (string_member(item, "type") != "message" || string_member(item, "role") != "user" || !content) return false;
  SourceMessage message;
  return !read_typed(*content, message) && has_content(message) && !message.text.starts_with("!");
}

/// Whether each item was taken back, by its number; empty if none was.
std::vector<bool> taken_back_in(const fs::path& file) {
  constexpr std::string_view mark = "thread_rolled_back";
  TextLines lines(unpacked_bytes_of_file(file), max_piece_bytes);
  std::string text;
  bool any = false;
  while (!any && lines.next(text)) any = text.find(mark) != text.npos;
  std::vector<bool> taken_back;
  std::vector<std::size_t> questions;
  if (!any) return taken_back;
  for_each_object(file, [&](const json::object& line) {
    const auto* item = item_in(line);
    const auto event = object_or_empty(line, "payload");
    if (item && is_question(*item)) questions.push_back(taken_back.size());
    if (item) taken_back.push_back(false);
    if (item || string_member(event, "type") != mark) return true;
    for (auto count = integer_in(event, "num_turns", 0); count > 0 && !questions.empty(); --count) {
      std::fill(taken_back.begin() + static_cast<std::ptrdiff_t>(questions.back()), taken_back.end(), true);
      questions.pop_back();
    }
    return true;
  });
  return taken_back;
}

/// Lines without content of the conversation, or with content that other lines repeat.
constexpr auto quiet_lines = std::to_array<std::string_view>(
    {"session_meta", "turn_context", "event_msg", "response_item", "token_usage_record", "world_state"});

/// Writes one thread, in order.
class Session {
public:
  /// Either what was taken back or everything else.
  Session(Importer& importer, ImportedThread head, std::optional<fs::path> project, bool is_taken_back)
      : importer_(importer),
        turns_(importer),
        head_(std::move(head)),
        project_(std::move(project)),
        is_taken_back_(is_taken_back) {}

  /// Items are numbered per rollout, in that of the session itself without its id.
  void read(const Part& part, const std::string& session) {
    const auto& rollout = *part.rollout;
    const auto taken_back = taken_back_in(rollout.file);
    if (is_taken_back_ && taken_back.empty() && part.end == no_end) return;
    const auto prefix = rollout.id == session ? std::string() : rollout.id + '/';
    std::size_t number = 0;
    for_each_line(importer_, rollout.file, [&](const json::object& line) {
      const auto ordinal = integer_in(line, "ordinal", rollout.begin);
      if (!is_taken_back_ && ordinal >= part.end) return false;
      const auto* item = item_in(line);
      if (!item) {
        take_other(line);
        return true;
      }
      const bool is_kept = ordinal < part.end && (number >= taken_back.size() || !taken_back[number]);
      if (ordinal >= rollout.begin && is_kept != is_taken_back_)
        take_item(*item, fmt::format("{}item-{}", prefix, number), time_in(line, "timestamp"));
      ++number;
      return true;
    });
  }

  bool finish() {
    turns_.finish();
    return begun_;
  }

  std::string title() const { return head_.title.value_or(title_); }

private:
  void take_other(const json::object& line) {
    const auto type = string_or_empty(line, "type");
    const auto* payload = object_member(line, "payload");
    if (!payload) return;
    if (type == "turn_context") model_ = string_or_empty(*payload, "model");
    if (!is_taken_back_ && !contains(quiet_lines, type))
      importer_.leave_one_of(fmt::format("lines `{}` of sessions", type), "have no counterpart here");
  }

  void take_item(const json::object& item, std::string id, const std::optional<Timestamp>& at) {
    SourceMessage message{.id = std::move(id),
                          .parent = {},
                          .role = Role::assistant,
                          .text = {},
                          .reasoning = {},
                          .model = model_,
                          .at = at};
    const auto type = string_or_empty(item, "type");
    if (type == "message")
      take_message(item, message);
    else if (type == "reasoning")
      message.reasoning = summary_of(item);
    else if (type.ends_with("_call"))
      take_call(item, type, message);
    else if (type.ends_with("_call_output"))
      read_codex_result(item, message);
    else
      message.unknown.push_back(type);
    leave_parts(importer_, message);
    if (!has_content(message)) return;
    if (!std::exchange(begun_, true)) importer_.begin_thread(head_, project_);
    if (title_.empty() && message.role == Role::user) title_ = title_from(message.text);
    // Items are numbered per session.
    take_files(importer_, head_.key, message);
    turns_.add(message);
  }

  void take_message(const json::object& item, SourceMessage& message) {
    const auto role = string_or_empty(item, "role");
    if (role == "user") message.role = Role::user;
    const auto* content = array_member(item, "content");
    if (content && role == "assistant") read_blocks(*content, message);
    const bool is_own = content && role == "user" && read_typed(*content, message);
    if (is_own || (role != "user" && role != "assistant"))
      importer_.leave_one_of("messages of sessions", "are what that program tells its model");
  }

  static void take_call(const json::object& item, const std::string& type, SourceMessage& message) {
    auto id = string_or_empty(item, "call_id");
    if (id.empty()) id = message.id;
    auto name = string_or_empty(item, "name");
    if (name.empty()) name = type.substr(0, type.size() - std::string_view("_call").size());
    const bool is_hosted = type == "image_generation_call" || type == "web_search_call";
    message.calls.push_back({id, std::move(name), call_input(item)});
    if (is_hosted) read_hosted_call(item, id, message);
  }

  Importer& importer_;
  TurnWriter turns_;
  ImportedThread head_;
  std::optional<fs::path> project_;
  bool is_taken_back_;
  std::string model_{};
  std::string title_{};
  bool begun_ = false;
};

/// Why a compressed rollout cannot be read; empty if it can.
std::string damage_of(const fs::path& file) try {
  if (file.extension() == extension) return {};
  for (const auto read = unpacked_bytes_of_file(file); !read().empty();) {
  }
  return {};
} catch (const ArchiveError& error) {
  return error.what();
}

using Rollouts = std::map<std::string, std::vector<Rollout>>;

/// The rollouts of each session, oldest first.
Rollouts rollouts_in(Importer& importer, const fs::path& home) {
  Rollouts rollouts;
  for (const bool is_archived : {false, true}) {
    const auto folder = home / (is_archived ? "archived_sessions" : "sessions");
    leave_other_files(importer, folder, extension);
    for (const auto& file : files_below(importer, folder, extension)) {
      // The program compresses old rollouts, and then deletes the uncompressed one.
      if (file.extension() != extension && fs::exists(fs::path(file).replace_extension())) continue;
      if (const auto damage = damage_of(file); !damage.empty()) {
        importer.leave(file.string(), damage);
        continue;
      }
      auto rollout = rollout_in(file, is_archived);
      auto& of_session = rollouts[rollout.session];
      // The names begin with the time.
      const auto is_later = [&](const Rollout& each) { return each.file.filename() > file.filename(); };
      of_session.insert(std::ranges::find_if(of_session, is_later), std::move(rollout));
    }
  }
  return rollouts;
}

/// The last name of each session in a file that the program only appends to.
std::map<std::string, std::string> codex_names(Importer& importer, const fs::path& file) {
  std::map<std::string, std::string> names;
  if (!is_named_file(importer, file)) return names;
  for_each_line(importer, file, [&](const json::object& line) {
    if (auto name = string_or_empty(line, "thread_name"); !name.empty())
      names[string_or_empty(line, "id")] = shortened(name, 200);
    return true;
  });
  return names;
}

/// Imports sessions with what they continue.
class Sessions {
public:
  Sessions(Importer& importer, const fs::path& home)
      : importer_(importer),
        rollouts_(rollouts_in(importer, home)),
        names_(codex_names(importer, home / "session_index.jsonl")) {
    for (const auto& [session, of_session] : rollouts_) {
      for (const auto& rollout : of_session) by_id_[rollout.id] = &rollout;
    }
  }

  void import() {
    std::uint64_t count = 0;
    for (const auto& [session, of_session] : rollouts_) {
      importer_.show_progress("sessions", count++, rollouts_.size());
      import_session(session, of_session);
    }
  }

private:
  /// What a rollout continues, oldest first, and itself.
  std::vector<Part> parts_of(const Rollout& rollout) const {
    std::vector<Part> parts{{&rollout}};
    while (!parts.back().rollout->base.empty()) {
      const auto& last = *parts.back().rollout;
      const auto base = by_id_.find(last.base);
      const bool is_loop = base != by_id_.end() && contains(parts, base->second, &Part::rollout);
      if (base == by_id_.end() || is_loop) {
        importer_.leave("the beginning of " + rollout.file.string(), "is in a file that is not there: " + last.base);
        break;
      }
      parts.push_back({base->second, last.base_end});
    }
    std::ranges::reverse(parts);
    return parts;
  }

  void import_session(const std::string& session, const std::vector<Rollout>& of_session) {
    const auto& newest = of_session.back();
    ImportedThread head{.key = session, .turns = {}};
    if (const auto name = names_.find(session); name != names_.end()) head.title = name->second;
    head.archived = newest.is_archived || newest.is_of_agent;
    head.created_at = of_session.front().created_at;
    const auto parts = parts_of(newest);
    std::string title;
    bool any = false;
    for (const auto& each : of_session) {
      // The program may have copied a file.
      if (each.id != newest.id) continue;
      Session kept(importer_, head, newest.project, false);
      for (const auto& part : &each == &newest ? parts : parts_of(each)) kept.read(part, session);
      any = kept.finish() || any;
      title = kept.title();
    }
    head.key += "/taken-back";
    head.title = (title.empty() ? "Conversation" : title) + " (fork 1)";
    Session taken_back(importer_, head, newest.project, true);
    for (const auto& each : of_session) {
      const auto part = std::ranges::find(parts, &each, &Part::rollout);
      if (part != parts.end())
        taken_back.read(*part, session);
      else if (each.id != newest.id)
        taken_back.read({&each, before_all}, session);
    }
    if (!taken_back.finish() && !any) importer_.leave(newest.file.string(), "has no messages");
  }

  Importer& importer_;
  Rollouts rollouts_;
  std::map<std::string, std::string> names_;
  std::map<std::string, const Rollout*> by_id_;
};

}  // namespace

void import_codex_sessions(Importer& importer, const fs::path& home) { Sessions(importer, home).import(); }

}  // namespace agw::cli
