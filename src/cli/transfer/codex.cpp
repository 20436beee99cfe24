// The directory of Codex: AGENTS.md, prompts/*.md, skills/, config.toml, and sessions in
// sessions/YYYY/MM/DD/rollout-*.jsonl. Documented at https://developers.openai.com/codex/config; a line of a session is
// a RolloutLine of https://github.com/openai/codex (codex-rs/protocol/src/protocol.rs): `timestamp`, `type` and
// `payload`. A `response_item` is an item of OpenAI's Responses API. The oldest sessions have the items themselves as
// lines.

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/transfer/conversation.hpp"
#include "cli/transfer/model_services.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

/// Codex sends its own texts as messages of the person: the environment, and the instructions.
bool is_inserted(const std::string& text) {
  return text.starts_with("<environment_context>") || text.starts_with("<user_instructions>") ||
         text.starts_with("# AGENTS.md instructions") || text.starts_with("<INSTRUCTIONS>");
}

std::string summary_of(const json::object& item) {
  std::string text;
  const auto* summary = array_member(item, "summary");
  for (const auto& part : summary ? *summary : json::array()) {
    if (part.is_object()) add_paragraph(text, string_or_empty(part.get_object(), "text"));
  }
  return text;
}

SourceResult codex_result(const json::object& item) {
  SourceResult result{.call_id = string_or_empty(item, "call_id"), .output = {}};
  const auto* output = item.if_contains("output");
  if (output && output->is_object()) result.output = text_or_json(output->get_object(), "content");
  if (output && !output->is_object()) result.output = text_or_json(*output);
  // Older sessions hold the output of a shell as JSON in a text.
  const auto parsed = result.output.starts_with('{') ? parse_json(result.output) : std::nullopt;
  if (parsed && parsed->is_object() && parsed->get_object().contains("output"))
    result.output = text_or_json(parsed->get_object(), "output");
  return result;
}

/// What one session contains, in order.
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
    if (type == "response_item" && payload) take_item(*payload, at);
    if (!payload && !type.empty()) take_item(line, at);
    // The first line of the oldest sessions.
    if (!payload && type.empty() && line.contains("id")) take_meta(line, at);
  }

  bool finish() {
    turns_.finish();
    return begun_;
  }

private:
  void take_meta(const json::object& meta, const std::optional<Timestamp>& at) {
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
      message.results.push_back(codex_result(item));
    else
      return;
    if (!has_content(message)) return;
    if (!std::exchange(begun_, true)) importer_.begin_thread(head_, project_);
    turns_.add(message);
  }

  static void take_message(const json::object& item, SourceMessage& message) {
    const auto role = string_or_empty(item, "role");
    if (role == "user") message.role = Role::user;
    const auto* content = array_member(item, "content");
    if (content && (role == "user" || role == "assistant")) read_blocks(*content, message);
    if (role == "user" && is_inserted(message.text)) message.text.clear();
  }

  static void take_call(const json::object& item, const std::string& type, SourceMessage& message) {
    auto id = string_or_empty(item, "call_id");
    if (id.empty()) id = message.id;
    auto name = string_or_empty(item, "name");
    if (name.empty()) name = type.substr(0, type.size() - std::string_view("_call").size());
    message.calls.push_back({std::move(id), std::move(name), call_input(item)});
  }

  Importer& importer_;
  TurnWriter turns_;
  ImportedThread head_;
  std::optional<fs::path> project_;
  std::string model_;
  int count_ = 0;
  bool begun_ = false;
};

void read_sessions(Importer& importer, const fs::path& folder, bool archived) {
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

/// The headers of a table, and those whose values are in variables.
json::object codex_headers(const json::object& from) {
  auto headers = object_or_empty(from, "http_headers");
  for (const auto& [name, variable] : object_or_empty(from, "env_http_headers"))
    headers[name] = "${" + std::string(variable.is_string() ? std::string_view(variable.get_string()) : "") + "}";
  return headers;
}

/// MCP servers as other programs write them.
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

/// An address with the parameters that every request to it has.
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
    if (string_or_empty(settings, "model_provider") == name) service.default_model = string_or_empty(settings, "model");
    import_model_service(importer, std::move(service), "config.toml");
  }
}

void read_codex_settings(Importer& importer, const fs::path& file) {
  const auto settings = settings_in_file(importer, file);
  if (!settings) return;
  import_mcp_servers(importer, codex_servers(*settings), "config.toml");
  read_codex_services(importer, *settings);
}

}  // namespace

void read_codex(Importer& importer, const fs::path& path) {
  if (!fs::is_directory(path)) throw std::runtime_error(path.string() + ": there is no such folder");
  const auto agent = import_agent(importer, "codex", "Codex");
  if (const auto text = text_of_file(importer, path / "AGENTS.md"))
    importer.add_identity("soul", agent, *text, (path / "AGENTS.md").string());
  import_commands(importer, path / "prompts");
  import_skills(importer, path / "skills", agent);
  read_codex_settings(importer, path / "config.toml");
  if (fs::exists(path / "auth.json")) importer.leave((path / "auth.json").string(), "is a login: use agw model add");
  read_sessions(importer, path / "sessions", false);
  read_sessions(importer, path / "archived_sessions", true);
}

}  // namespace agw::cli
