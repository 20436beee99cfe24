// The directory of Codex: AGENTS.md, prompts/*.md, skills/, config.toml, and sessions in
// sessions/YYYY/MM/DD/rollout-*.jsonl. Documented at https://developers.openai.com/codex/config; a line of a session is
// a RolloutLine of https://github.com/openai/codex (codex-rs/protocol/src/protocol.rs): `timestamp`, `type` and
// `payload`. A `response_item` is an item of OpenAI's Responses API. The oldest sessions have the items themselves as
// lines.

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string/trim.hpp>

#include "base/json/json_values.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/model_services.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

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

/// Lines without content of the conversation, or with content that other lines repeat.
constexpr auto quiet_lines = std::to_array<std::string_view>({"session_meta", "turn_context", "event_msg"});

/// Reads one session, in order.
class Session {
public:
  Session(Importer& importer, std::string key, bool archived) : importer_(importer), turns_(importer) {
    head_.key = std::move(key);
    head_.archived = archived;
  }

  void take(const json::object& line) {
    const auto at = time_in(line, "timestamp");
    const auto type = string_or_empty(line, "type");
    const auto* payload = object_member(line, "payload");
    if (type == "session_meta" && payload) return take_meta(*payload, at);
    if (type == "turn_context" && payload) model_ = string_or_empty(*payload, "model");
    if (type == "response_item" && payload)
      take_item(*payload, at);
    else if (payload && std::ranges::find(quiet_lines, type) == quiet_lines.end())
      importer_.leave_one_of(fmt::format("lines `{}` of sessions", type), "have no counterpart here");
    if (!payload && !type.empty()) take_item(line, at);
    // The first line of the oldest sessions.
    if (!payload && type.empty() && line.contains("id")) take_meta(line, at);
  }

  bool finish() {
    turns_.finish();
    return begun_;
  }

private:
  /// Uses the first line that describes the session; in a fork it is followed by a copy of all lines of the original.
  void take_meta(const json::object& meta, const std::optional<Timestamp>& at) {
    if (std::exchange(has_meta_, true)) return;
    if (const auto id = string_or_empty(meta, "id"); !id.empty() && !begun_) head_.key = id;
    if (const auto cwd = string_or_empty(meta, "cwd"); !cwd.empty()) project_ = cwd;
    head_.created_at = at ? at : time_in(meta, "timestamp");
  }

  void take_item(const json::object& item, const std::optional<Timestamp>& at) {
    SourceMessage message{.id = fmt::format("item-{}", count_++),
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

  /// Returns whether some of the texts are the program's, which are left out.
  static bool read_typed(const json::array& content, SourceMessage& message) {
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
  std::string model_;
  int count_ = 0;
  bool has_meta_ = false;
  bool begun_ = false;
};

void read_sessions(Importer& importer, const fs::path& folder, bool archived) {
  leave_other_files(importer, folder, ".jsonl");
  const auto files = files_below(importer, folder, ".jsonl");
  for (std::size_t i = 0; i < files.size(); ++i) {
    importer.show_progress("sessions", i, files.size());
    Session session(importer, files[i].stem().string(), archived);
    for_each_line(importer, files[i], [&](const json::object& line) {
      session.take(line);
      return true;
    });
    if (!session.finish()) importer.leave(files[i].string(), "has no messages");
  }
}

/// The headers in a table, and those whose values are in variables.
json::object codex_headers(const json::object& from) {
  auto headers = object_or_empty(from, "http_headers");
  for (const auto& [name, variable] : object_or_empty(from, "env_http_headers"))
    headers[name] = "${" + std::string(variable.is_string() ? std::string_view(variable.get_string()) : "") + "}";
  return headers;
}

/// Converts MCP servers to the format of other programs.
json::object codex_servers(const json::object& settings) {
  json::object servers;
  for (const auto& [name, value] : object_or_empty(settings, "mcp_servers")) {
    if (!value.is_object()) continue;
    auto server = value.get_object();
    auto headers = codex_headers(server);
    if (const auto variable = string_or_empty(server, "bearer_token_env_var"); !variable.empty())
      headers["Authorization"] = "Bearer ${" + variable + "}";
    if (!headers.empty()) server["headers"] = std::move(headers);
    auto environment = object_or_empty(server, "env");
    for (const auto& variable : strings_of(server, "env_vars")) environment[variable] = "${" + variable + "}";
    if (!environment.empty()) server["env"] = std::move(environment);
    servers[name] = std::move(server);
  }
  return servers;
}

/// Adds the parameters of every request to an address.
std::string with_query(std::string address, const json::object& parameters) {
  for (const auto& [name, value] : parameters) {
    if (!value.is_string()) continue;
    address += address.find('?') == address.npos ? '?' : '&';
    address += fmt::format("{}={}", std::string_view(name), std::string_view(value.get_string()));
  }
  return address;
}

void read_codex_services(Importer& importer, const json::object& settings) {
  for (const auto& [key, value] : object_or_empty(settings, "model_providers")) {
    if (!value.is_object()) continue;
    const auto& provider = value.get_object();
    const std::string name(key);
    SourceService service{
        .name = name,
        .api = string_or_empty(provider, "wire_api") == "responses" ? "openai-responses" : "openai-chat",
        .base_url = with_query(string_or_empty(provider, "base_url"), object_or_empty(provider, "query_params")),
        .key = key_in(provider, "experimental_bearer_token"),
        .headers = codex_headers(provider)};
    if (!service.key && provider.contains("env_key")) service.key = "";
    leave_settings(importer, "model service " + name, provider,
                   {"name", "base_url", "env_key", "env_key_instructions", "wire_api", "query_params", "http_headers",
                    "env_http_headers", "experimental_bearer_token"});
    if (string_or_empty(settings, "model_provider") == name) service.default_model = string_or_empty(settings, "model");
    import_model_service(importer, std::move(service), "config.toml");
  }
}

constexpr auto codex_contents = std::to_array<KnownEntry>({
    {"AGENTS.md"},
    {"archived_sessions"},
    {"config.toml"},
    {"prompts"},
    {"sessions"},
    {"skills"},
    {"auth.json", "is a login: use agw model add"},
    {"AGENTS.override.md", "is not taken: put its text into the soul of an agent"},
    {"agents", "agents in TOML are not taken: add what you need of them by hand"},
    {"automations", "are not taken: add them as jobs by hand"},
    {"history.jsonl", "is what was typed, which the sessions have"},
    {"hooks.json", "hooks have no counterpart: see docs/approvals.md"},
    {"memories*", "is what the program remembers: copy what you need into knowledge"},
    {"plugins", "plugins are not taken: add what you need of them by hand"},
    {"rules", "permissions have no counterpart: see docs/approvals.md"},
    {"themes", "sets colours of that program's terminal"},
    {"worktrees", "are copies of projects"},
    {".*", is_state},
    {"cache", is_state},
    {"cap_sid", is_state},
    {"installation_id", is_state},
    {"internal_storage.json", is_state},
    {"log*", is_state},
    {"models_cache.json", is_state},
    {"packages", is_state},
    {"session_index.jsonl", is_state},
    {"shell_snapshots", is_state},
    {"sqlite", is_state},
    {"state*", is_state},
    {"tmp", is_state},
    {"vendor_imports", is_state},
    {"version.json", is_state},
});

}  // namespace

void read_codex(Importer& importer, const fs::path& path) {
  if (!fs::is_directory(path)) throw std::runtime_error(path.string() + ": there is no such folder");
  const auto settings = settings_in_file(importer, path / "config.toml").value_or(json::object());
  // Must precede the agent, which names a model.
  read_codex_services(importer, settings);
  const auto agent = import_agent(importer, "codex", "Codex", string_or_empty(settings, "model"));
  if (const auto text = text_of_file(importer, path / "AGENTS.md"))
    importer.add_identity("soul", agent, *text, (path / "AGENTS.md").string());
  import_commands(importer, path / "prompts");
  import_skills(importer, path / "skills", agent);
  import_mcp_servers(importer, codex_servers(settings), "config.toml");
  leave_settings(importer, (path / "config.toml").string(), settings,
                 {"mcp_servers", "model", "model_provider", "model_providers"});
  leave_entries(importer, path, codex_contents);
  read_sessions(importer, path / "sessions", false);
  read_sessions(importer, path / "archived_sessions", true);
}

}  // namespace agw::cli
