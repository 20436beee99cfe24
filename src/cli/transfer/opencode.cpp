// The directories of opencode (https://opencode.ai): ~/.config/opencode with opencode.json, AGENTS.md, agents/,
// commands/ and skills/, and ~/.local/share/opencode with the sessions. Documented at https://opencode.ai/docs (config,
// agents, commands, mcp-servers). Checked with versions 1.1.65 and 1.18.33.

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/text/utf8.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/model_services.hpp"
#include "cli/transfer/opencode_sessions.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

/// A text, or the content of the file below `folder` that it refers to.
std::string text_or_file(Importer& importer, std::string text, const fs::path& folder) {
  constexpr std::string_view begin = "{file:./";
  if (!text.starts_with(begin) || !text.ends_with('}')) return text;
  return text_of_file(importer, folder / text.substr(begin.size(), text.size() - begin.size() - 1)).value_or("");
}

/// Adds an agent or a command from the settings; its prompt is the member `from` there and `to` here.
void add_from_settings(Importer& importer, const std::string& type, const std::string& name, json::object object,
                       const fs::path& folder, std::string_view from, const std::string& to) {
  const auto what = fmt::format("{} {}", type, name);
  const auto prompt = text_or_file(importer, string_or_empty(object, from), folder);
  if (prompt.empty()) return importer.leave(what, "has no text of its own: it changes settings of opencode's");
  json::object definition{{to, prompt}};
  take_members(importer, type, name, object, definition);
  importer.add_extension({{"type", type},
                          {"name", name},
                          {"description", shortened(string_or_empty(object, "description"), 500)},
                          {"definition", std::move(definition)}},
                         fmt::format("{}#{}", type, name));
  leave_members(importer, what, object, {from, "description"});
}

/// Converts MCP servers to the format of other programs: the program separate from its arguments, `env` for
/// `environment`.
json::object servers_of(const json::object& from) {
  json::object servers;
  for (const auto& [name, value] : from) {
    if (!value.is_object()) continue;
    auto server = value.get_object();
    if (const auto words = strings_of(server, "command"); !words.empty()) {
      server["command"] = words.front();
      server["args"] = json::array(words.begin() + 1, words.end());
    }
    if (const auto* environment = object_member(server, "environment")) server["env"] = json::object(*environment);
    servers[name] = std::move(server);
  }
  return servers;
}

/// The API of a service, by its package of Vercel's AI SDK, or by the name of a vendor that needs none.
std::string opencode_api(const std::string& name, const std::string& package) {
  const auto& sort = package.empty() ? name : package;
  if (sort == "anthropic" || sort == "@ai-sdk/anthropic") return "anthropic";
  if (sort == "openai" || sort == "@ai-sdk/openai") return "openai-responses";
  if (sort == "google" || sort == "@ai-sdk/google") return "gemini";
  const bool is_compatible = package.empty() || package == "@ai-sdk/openai-compatible" ||
                             package == "@openrouter/ai-sdk-provider" || package == "@ai-sdk/groq" ||
                             package == "@ai-sdk/mistral" || package == "@ai-sdk/xai";
  return is_compatible ? "openai-chat" : "";
}

json::array opencode_models(const json::object& provider) {
  json::array models;
  for (const auto& [id, value] : object_or_empty(provider, "models")) {
    json::object model{{"id", id}};
    const auto limit = value.is_object() ? object_or_empty(value.get_object(), "limit") : json::object();
    if (const auto* window = limit.if_contains("context"); window && window->is_int64() && window->get_int64() > 0)
      model["context_window"] = *window;
    if (const auto* most = limit.if_contains("output"); most && most->is_int64() && most->get_int64() > 0)
      model["max_output"] = *most;
    models.push_back(std::move(model));
  }
  return models;
}

void read_opencode_services(Importer& importer, const json::object& settings) {
  for (const auto& [key, value] : object_or_empty(settings, "provider")) {
    if (!value.is_object()) continue;
    const auto& provider = value.get_object();
    const auto options = object_or_empty(provider, "options");
    const std::string name(key);
    leave_settings(importer, "model service " + name, provider,
                   {"api", "env", "id", "models", "name", "npm", "options"});
    leave_settings(importer, "model service " + name, options, {"apiKey", "baseURL", "headers"});
    import_model_service(importer,
                         {.name = name,
                          .api = opencode_api(name, string_or_empty(provider, "npm")),
                          .base_url = string_or_empty(options, "baseURL"),
                          .key = key_in(options, "apiKey"),
                          .headers = object_or_empty(options, "headers"),
                          .models = opencode_models(provider),
                          .default_model = model_of_service(string_or_empty(settings, "model"), name)},
                         "opencode.json");
  }
}

void add_all_from_settings(Importer& importer, const fs::path& file, const json::object& settings,
                           const std::string& type, std::string_view from, const std::string& to) {
  for (const auto& [name, value] : object_or_empty(settings, type))
    add_from_settings(importer, type, std::string(name), value.is_object() ? value.get_object() : json::object(),
                      file.parent_path(), from, to);
}

void read_opencode_settings(Importer& importer, const fs::path& file, const json::object& settings) {
  add_all_from_settings(importer, file, settings, "command", "template", "prompt");
  import_mcp_servers(importer, servers_of(object_or_empty(settings, "mcp")), "opencode.json");
  if (settings.contains("permission"))
    importer.leave("permissions of " + file.string(), "have no counterpart: see docs/approvals.md");
  leave_settings(importer, file.string(), settings,
                 {"$schema", "agent", "command", "mcp", "model", "permission", "provider"});
}

constexpr auto opencode_contents = std::to_array<KnownEntry>({
    {"AGENTS.md"},
    {"agent"},
    {"agents"},
    {"command"},
    {"commands"},
    {"config.json"},
    {"opencode.json"},
    {"opencode.jsonc"},
    {"prompts"},
    {"skill"},
    {"skills"},
    {"mode", "modes are not taken: put their text into an agent"},
    {"modes", "modes are not taken: put their text into an agent"},
    {"plugin*", "plugins are not taken: add what you need of them by hand"},
    {"theme*", "sets colours of that program's terminal"},
    {"tool*", "tools of its own are not taken: add what you need of them by hand"},
    {"tui.json*", "sets that program's terminal"},
    {".*", is_state},
    {"bun.lock*", is_state},
    {"node_modules", is_state},
    {"package-lock.json", is_state},
    {"package.json", is_state},
});

}  // namespace

void read_opencode(Importer& importer, const fs::path& path) {
  const auto home = fs::absolute(path / ".." / "..").lexically_normal();
  const bool has_sessions = fs::exists(path / "opencode.db") || fs::exists(path / "storage");
  const auto data = has_sessions ? path : home / ".local" / "share" / "opencode";
  if (!fs::is_directory(data)) require_contents(path, opencode_contents, "opencode");
  std::string model;
  std::vector<std::pair<fs::path, json::object>> settings;
  for (const auto* file : {"config.json", "opencode.json", "opencode.jsonc"}) {
    auto read = settings_in_file(importer, path / file);
    if (!read) continue;
    if (auto chosen = string_or_empty(*read, "model"); !chosen.empty()) model = std::move(chosen);
    // Must precede the agents, which name models.
    read_opencode_services(importer, *read);
    settings.emplace_back(path / file, *std::move(read));
  }
  const auto agent = import_agent(importer, "opencode", "opencode", model);
  if (const auto text = text_of_file(importer, path / "AGENTS.md"))
    importer.add_identity("soul", agent, *text, (path / "AGENTS.md").string());
  // Older versions use the singular for these folders.
  for (const auto* folder : {"agent", "agents"}) import_agents(importer, path / folder);
  // Must precede the commands, which name agents.
  for (const auto& [file, object] : settings)
    add_all_from_settings(importer, file, object, "agent", "prompt", "systemPrompt");
  for (const auto* folder : {"command", "commands"}) import_commands(importer, path / folder);
  for (const auto* folder : {"skill", "skills"}) import_skills(importer, path / folder, agent);
  for (const auto& [file, object] : settings) read_opencode_settings(importer, file, object);
  if (path != data) leave_entries(importer, path, opencode_contents);
  if (!fs::exists(data)) importer.leave(data.string(), "is not there: if the sessions are elsewhere, name that folder");
  import_opencode_sessions(importer, data);
}

}  // namespace agw::cli
