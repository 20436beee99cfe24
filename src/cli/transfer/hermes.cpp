// The directory of Hermes Agent (https://github.com/NousResearch/hermes-agent, release v2026.9.24): SOUL.md,
// memories/, skills/<category>/<skill>, cron/jobs.json, config.yaml, and state.db with the tables of
// hermes_state_common.py (version 30 of its schema): `sessions`, and `messages` in the form of OpenAI's chat.
// Documented at https://hermes-agent.nousresearch.com/docs (configuration, features/memory, features/cron,
// features/skills).

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/trim.hpp>

#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/json_pieces.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/model_services.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/program_store.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

/// Whether a column with the values 0 and 1 is 1.
bool is_set(const json::object& row, std::string_view column) {
  const auto* value = row.if_contains(column);
  return value && value->is_int64() && value->get_int64() != 0;
}

/// Whether a message was withdrawn by `/undo` or an edit; a message that was only compacted still counts.
bool is_taken_back(const json::object& row) {
  return row.contains("active") && !is_set(row, "active") && !is_set(row, "compacted");
}

bool begins_summary(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  return text.starts_with("[CONTEXT COMPACTION") || text.starts_with("[CONTEXT SUMMARY]:");
}

/// The text behind a mark at `at`, up to `end` if that is given and follows; empty if there is no mark.
std::string_view text_behind(std::string_view text, std::size_t at, std::string_view mark, std::string_view end = {}) {
  if (at == text.npos) return {};
  text.remove_prefix(at + mark.size());
  return end.empty() ? text : text.substr(0, text.find(end));
}

/// The content of a message without the summary that Hermes puts before or after it, or in its place, when it compacts.
/// See agent/context_compressor.py.
std::string without_summary(const std::string& content) {
  constexpr std::string_view header = "[PRIOR CONTEXT — for reference only; not a new message]";
  constexpr std::string_view between = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]";
  constexpr std::string_view end =
      "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---";
  constexpr std::string_view continuation =
      "Continue from the compressed conversation context above. This marker exists";
  const auto middle = content.find(between);
  std::string own;
  if (begins_summary(content)) {
    own = text_behind(content, content.find(end), end);
  } else if (middle != content.npos && begins_summary(text_behind(content, middle, between))) {
    own = content.substr(0, middle);
    if (own.starts_with(header)) own.erase(0, header.size());
  } else if (!content.starts_with(continuation)) {
    return content;
  }
  return boost::trim_copy(own);
}

std::string content_of_row(const json::object& row) {
  auto content = string_or_empty(row, "content");
  const auto role = string_or_empty(row, "role");
  if (role != "user" && role != "assistant") return content;
  auto own = without_summary(content);
  return is_set(row, "_compressed_summary") && own == content ? std::string() : own;
}

/// Whether the program wrote it for its model. `content`: what people and the assistant said.
bool is_of_program(const json::object& row, const std::string& content) {
  const bool is_all = content.empty() && !string_or_empty(row, "content").empty();
  return string_or_empty(row, "display_kind") == "hidden" || (is_all && string_or_empty(row, "tool_calls").empty());
}

/// What a person typed, `/name instruction`, for a message into which Hermes puts the text of a skill; empty if it does
/// not. See agent/skill_commands.py.
std::string typed_for_skill(std::string_view text) {
  constexpr std::string_view invoked = "[IMPORTANT: The user has invoked the \"", loaded = "[IMPORTANT: The \"";
  constexpr std::string_view in_bundle = "\nUser instruction: ", last_of_skill = "using the absolute path.";
  constexpr std::string_view alone = "The user has provided the following instruction alongside the skill invocation: ";
  const bool is_invoked = text.starts_with(invoked);
  if (!is_invoked && (!text.starts_with(loaded) || text.find("\" skill is auto-loaded.") == text.npos)) return {};
  std::string_view said;
  if (!is_invoked)
    said = text_behind(text, text.rfind(last_of_skill), last_of_skill);
  else if (text.find(" skill bundle,") != text.npos)
    said = text_behind(text, text.find(in_bundle), in_bundle, "\n\n[Loaded as part of the ");
  else
    said = text_behind(text, text.rfind(alone), alone, "\n\n[Runtime note:");
  auto typed = boost::trim_copy(std::string(said));
  if (!is_invoked && !typed.empty()) return typed;
  const auto name = text_behind(text, 0, is_invoked ? invoked : loaded, "\"");
  return boost::trim_copy(fmt::format("{}{} {}", name.starts_with('/') ? "" : "/", name, typed));
}

/// A first character that occurs in no text marks lists of text and pictures.
void read_hermes_content(const std::string& content, SourceMessage& message) {
  constexpr std::string_view mark("\0json:", 6);
  std::size_t replaced = 0;
  const auto value = content.starts_with(mark)
                         ? parse_source_json(std::string_view(content).substr(mark.size()), replaced)
                         : std::nullopt;
  if (value && value->is_array())
    read_blocks(value->get_array(), message);
  else
    message.text = value ? text_or_json(*value) : content;
}

void read_hermes_calls(const json::object& row, SourceMessage& message) {
  std::size_t replaced = 0;
  const auto calls = parse_source_json(string_or_empty(row, "tool_calls"), replaced);
  if (!calls || !calls->is_array()) return;
  for (const auto& call : calls->get_array()) {
    if (!call.is_object()) continue;
    const auto function = object_or_empty(call.get_object(), "function");
    message.calls.push_back(
        {string_or_empty(call.get_object(), "id"), string_or_empty(function, "name"), call_input(function)});
  }
}

SourceMessage hermes_message(const json::object& row, const std::string& model) {
  const auto role = string_or_empty(row, "role");
  SourceMessage message{.id = text_or_json(row, "id"), .parent = {}, .role = Role::system, .text = {}, .reasoning = {}};
  message.at = time_in(row, "timestamp");
  // Text written for the model by the program is not text of the person.
  const auto content = content_of_row(row);
  if (role == "session_meta" || is_of_program(row, content)) return message;
  read_hermes_content(content, message);
  if (role == "tool") {
    message.role = Role::tool;
    message.results.push_back({string_or_empty(row, "tool_call_id"), std::exchange(message.text, {})});
  } else if (role == "assistant") {
    message.role = Role::assistant;
    message.model = model;
    message.reasoning = string_or_empty(row, "reasoning");
    if (message.reasoning.empty()) message.reasoning = string_or_empty(row, "reasoning_content");
    read_hermes_calls(row, message);
  } else if (role == "user") {
    message.role = Role::user;
    if (auto typed = typed_for_skill(message.text); !typed.empty()) {
      message.text = std::move(typed);
      message.unknown.emplace_back("text of a skill");
    }
  }
  return message;
}

struct HermesSession {
  std::string id;
  ImportedThread head;
  std::optional<fs::path> project;
  std::string model;
};

HermesSession hermes_session(const json::object& row) {
  HermesSession session{.id = string_or_empty(row, "id"), .head = {}, .project = {}, .model = {}};
  session.head.key = session.id;
  if (const auto title = string_or_empty(row, "title"); !title.empty()) session.head.title = title;
  // A session started by another agent is not a person's conversation.
  const bool is_of_agent = string_or_empty(row, "source") == "subagent" ||
                           string_or_empty(row, "model_config").find("\"_delegate_from\"") != std::string::npos;
  session.head.archived = is_set(row, "archived") || is_set(row, "hidden") || is_of_agent;
  session.head.pinned = is_set(row, "pinned");
  session.head.created_at = time_in(row, "started_at");
  session.head.updated_at = time_in(row, "last_activity_at");
  if (!session.head.updated_at) session.head.updated_at = time_in(row, "ended_at");
  if (const auto cwd = string_or_empty(row, "cwd"); !cwd.empty()) session.project = cwd;
  session.model = string_or_empty(row, "model");
  return session;
}

enum class HermesMessages { kept, taken_back };

/// The rows of one message: compaction writes those that the model still sees again.
struct HermesRows {
  std::string first_id;
  HermesMessages state = HermesMessages::taken_back;  ///< kept if any of them is
  bool is_read = false;
};
using HermesRowsByIdentity = std::unordered_map<std::string, HermesRows>;

/// What Hermes itself recognizes rows of one message by.
std::string identity_of(const json::object& row) {
  std::string text;
  for (const auto* column : {"role", "content", "timestamp", "tool_call_id", "tool_calls", "tool_name"})
    text += (std::string_view(column) == "content" ? content_of_row(row) : text_or_json(row, column)) + '\0';
  return sha256(text);
}

/// From a damaged database, those up to the damage, which reading the messages reports.
HermesRowsByIdentity rows_of(ProgramStore& store, const HermesSession& session) {
  HermesRowsByIdentity found;
  try {
    store.for_each_row("messages", "session_id", session.id, "id", [&](const json::object& row) {
      auto& rows = found[identity_of(row)];
      if (rows.first_id.empty()) rows.first_id = text_or_json(row, "id");
      if (!is_taken_back(row)) rows.state = HermesMessages::kept;
    });
  } catch (const DatabaseError&) {
  }
  return found;
}

/// Returns false if the session has no such messages.
bool read_hermes_messages(Importer& importer, ProgramStore& store, const HermesSession& session,
                          HermesRowsByIdentity& identities, HermesMessages wanted) {
  bool begun = false;
  TurnWriter turns(importer);
  store.for_each_row("messages", "session_id", session.id, "id", [&](const json::object& row) {
    auto& rows = identities[identity_of(row)];
    const auto state = is_taken_back(row) ? HermesMessages::taken_back : HermesMessages::kept;
    // Hermes may have written it since.
    if (rows.first_id.empty()) rows = {.first_id = text_or_json(row, "id"), .state = state};
    if (state != wanted || rows.state != wanted || std::exchange(rows.is_read, true)) return;
    auto message = hermes_message(row, session.model);
    message.id = rows.first_id;
    leave_parts(importer, message);
    if (is_of_program(row, content_of_row(row))) {
      importer.leave_one_of("messages of sessions", "are what that program tells its model");
    }
    if (!has_content(message)) return;
    if (!std::exchange(begun, true)) importer.begin_thread(session.head, session.project);
    turns.add(message);
  });
  turns.finish();
  return begun;
}

void read_hermes_session(Importer& importer, ProgramStore& store, HermesSession session) try {
  auto identities = rows_of(store, session);
  const bool any = read_hermes_messages(importer, store, session, identities, HermesMessages::kept);
  session.head.key += "/taken-back";
  session.head.title = session.head.title.value_or("Conversation") + " (fork 1)";
  session.head.pinned = false;
  if (!read_hermes_messages(importer, store, session, identities, HermesMessages::taken_back) && !any)
    importer.leave("session " + session.id, "has no messages");
} catch (const DatabaseError& error) {
  importer.leave("session " + session.id, error.what());
}

void read_hermes_sessions(Importer& importer, const fs::path& file) try {
  if (!is_named_file(importer, file)) return;
  ProgramStore store(file);
  std::uint64_t count = 0;
  const auto total = store.count("sessions");
  store.for_each_row("sessions", "started_at, id", [&](const json::object& row) {
    importer.show_progress("sessions", count++, total);
    read_hermes_session(importer, store, hermes_session(row));
  });
} catch (const DatabaseError& error) {
  importer.leave(file.string(), fmt::format("cannot be read: {}", error.what()));
}

/// The skills shipped with the program: lines of `name:hash`.
std::set<std::string> bundled_skills(Importer& importer, const fs::path& file) {
  std::set<std::string> names;
  const auto text = text_of_file(importer, file).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    names.insert(text.substr(at, std::min(text.find(':', at), end) - at));
    at = end + 1;
  }
  if (!names.empty())
    importer.leave(fmt::format("{} skills that came with Hermes", names.size()),
                   "are that program's: copy by hand what you changed in them");
  return names;
}

std::string hermes_api(std::string_view mode) {
  if (mode.empty() || mode == "chat_completions") return "openai-chat";
  if (mode == "codex_responses" || mode == "responses") return "openai-responses";
  return mode == "anthropic_messages" ? "anthropic" : "";
}

/// The first non-empty member.
std::string first_text(const json::object& object, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (auto text = string_or_empty(object, name); !text.empty()) return text;
  }
  return {};
}

SourceService hermes_service(Importer& importer, std::string name, const json::object& from) {
  SourceService service{.name = std::move(name),
                        .api = hermes_api(first_text(from, {"api_mode", "transport"})),
                        .base_url = first_text(from, {"base_url", "api", "url"}),
                        .key = key_in(from, "api_key")};
  if (!service.key && !first_text(from, {"key_env", "api_key_env"}).empty()) service.key = "";
  service.default_model = first_text(from, {"default_model", "model", "default"});
  leave_settings(importer, "model service " + service.name, from,
                 {"name", "api_mode", "transport", "base_url", "api", "url", "api_key", "key_env", "api_key_env",
                  "default_model", "model", "default", "provider"});
  return service;
}

/// Services configured by a person: `providers`, in older versions `custom_providers`, or `model` itself. Returns the
/// chosen model.
std::string read_hermes_services(Importer& importer, const json::object& settings) {
  constexpr std::string_view custom = "custom:";
  const auto model = object_or_empty(settings, "model");
  auto chosen = string_or_empty(model, "provider");
  if (chosen.starts_with(custom)) chosen.erase(0, custom.size());
  const auto default_model = string_or_empty(model, "default");
  bool is_found = false;
  const auto add = [&](SourceService service) {
    is_found = is_found || service.name == chosen;
    if (service.name == chosen && service.default_model.empty()) service.default_model = default_model;
    import_model_service(importer, std::move(service), "config.yaml");
  };
  for (const auto& [name, value] : object_or_empty(settings, "providers")) {
    if (value.is_object()) add(hermes_service(importer, std::string(name), value.get_object()));
  }
  const auto* older = array_member(settings, "custom_providers");
  for (const auto& each : older ? *older : json::array()) {
    if (each.is_object()) add(hermes_service(importer, string_or_empty(each.get_object(), "name"), each.get_object()));
  }
  if (model.empty()) return string_or_empty(settings, "model");
  if (!is_found && model.contains("base_url")) {
    if (chosen.empty()) chosen = "hermes-model";
    add(hermes_service(importer, chosen, model));
  }
  if (chosen.empty() || chosen == "auto") return default_model;
  auto name = fmt::format("{}/{}", chosen, default_model);
  if (is_found || importer.model_here(name)) return default_model.empty() ? std::string() : name;
  importer.leave("model " + default_model, fmt::format("is one of the service {}: use agw model add", chosen));
  return {};
}

void read_hermes_settings(Importer& importer, const json::object& settings, const fs::path& file) {
  if (const auto* servers = object_member(settings, "mcp_servers"))
    import_mcp_servers(importer, *servers, file.filename().string());
  leave_settings(importer, file.string(), settings,
                 {"_config_version", "custom_providers", "mcp_servers", "model", "providers"});
}

constexpr auto hermes_contents = std::to_array<KnownEntry>({
    {"SOUL.md"},
    {"config.yaml"},
    {"cron"},
    {"memories"},
    {"skills"},
    {"state.db*"},
    {".env", has_logins},
    {"auth.json", has_logins},
    {"hooks", "hooks have no counterpart: see docs/approvals.md"},
    {"kanban*", "has tasks of its boards: copy what you need by hand"},
    {"mcp-tokens", has_logins},
    {"pairing", has_logins},
    {"platforms", has_logins},
    {"plans", "are plans of its sessions: copy what you need into knowledge"},
    {"plugins", "plugins are not taken: add what you need of them by hand"},
    {"profiles", "are further agents: name the folder of one to take it over"},
    {"scripts", "are scripts of its jobs: a `precheck` of a job can run one"},
    {"sessions", "has sessions of older versions, or copies of those in state.db"},
    {"skins", "sets colours of that program's terminal"},
    {"webhook_subscriptions.json", "are not taken: add them as jobs with webhooks by hand"},
    {"whatsapp", has_logins},
    {".*", is_state},
    {"audio_cache", is_state},
    {"bin", is_state},
    {"cache", is_state},
    {"channel_directory.json", is_state},
    {"checkpoints", is_state},
    {"context_length_cache*", is_state},
    {"gateway*", is_state},
    {"hermes-agent", "is the program itself"},
    {"home", is_state},
    {"image_cache", is_state},
    {"images", is_state},
    {"interrupt_debug.log", is_state},
    {"logs", is_state},
    {"lsp", is_state},
    {"models_dev_cache.json", is_state},
    {"node", is_state},
    {"pastes", is_state},
    {"processes.json", is_state},
    {"response_store.db*", is_state},
    {"sandboxes", is_state},
    {"spawn-trees", is_state},
    {"state-snapshots", is_state},
});
constexpr auto hermes_cron =
    std::to_array<KnownEntry>({{"jobs.json"},
                               {"output", "has results of its jobs: copy what you need into knowledge"},
                               {".*", is_state},
                               {"ticker*", is_state}});
constexpr auto hermes_memories =
    std::to_array<KnownEntry>({{"MEMORY.md"}, {"USER.md"}, {"MEMORY.md.lock", is_state}, {"USER.md.lock", is_state}});

}  // namespace

void read_hermes(Importer& importer, const fs::path& path) {
  require_contents(path, hermes_contents, "Hermes Agent");
  const auto settings = settings_in_file(importer, path / "config.yaml").value_or(json::object());
  // Must precede the agent, which names a model.
  const auto model = read_hermes_services(importer, settings);
  const auto agent = import_agent(importer, "hermes", "Hermes Agent", model);
  if (const auto text = text_of_file(importer, path / "SOUL.md"))
    importer.add_identity("soul", agent, *text, (path / "SOUL.md").string());
  const auto memories = path / "memories";
  if (const auto text = text_of_file(importer, memories / "USER.md"))
    importer.add_identity("user-profile", agent, *text, (memories / "USER.md").string());
  if (const auto text = text_of_file(importer, memories / "MEMORY.md"))
    importer.add_file("knowledge pages", fs::path("agents") / agent / "knowledge" / "memory.md", *text,
                      (memories / "MEMORY.md").string());
  import_skills(importer, path / "skills", agent, bundled_skills(importer, path / "skills" / ".bundled_manifest"));
  import_jobs(importer, path / "cron" / "jobs.json", agent);
  read_hermes_settings(importer, settings, path / "config.yaml");
  leave_entries(importer, path, hermes_contents);
  leave_entries(importer, path / "cron", hermes_cron);
  leave_entries(importer, memories, hermes_memories);
  read_hermes_sessions(importer, path / "state.db");
}

}  // namespace agw::cli
