// The directory of Codex: AGENTS.md, prompts/*.md, skills/, config.toml, and sessions. Documented at
// https://developers.openai.com/codex/config.

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/transfer/codex_sessions.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/model_services.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

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

/// The chosen model; that of a service in the settings with the service's name.
std::string codex_model(const json::object& settings) {
  auto model = string_or_empty(settings, "model");
  const auto service = string_or_empty(settings, "model_provider");
  const bool is_in_settings = object_or_empty(settings, "model_providers").contains(service);
  return model.empty() || !is_in_settings ? model : fmt::format("{}/{}", service, model);
}

constexpr auto codex_contents = std::to_array<KnownEntry>({
    {"AGENTS.md"},
    {"archived_sessions"},
    {"config.toml"},
    {"prompts"},
    {"session_index.jsonl"},
    {"sessions"},
    {"skills"},
    {"auth.json", "is a login: use agw model add"},
    {"AGENTS.override.md", "is not taken: put its text into the soul of an agent"},
    {"agents", "agents in TOML are not taken: add what you need of them by hand"},
    {"automations", "are not taken: add them as jobs by hand"},
    {"goals*", "are goals of its sessions: copy what you need into knowledge"},
    {"history.jsonl", "is what was typed, which the sessions have"},
    {"hooks.json", "hooks have no counterpart: see docs/approvals.md"},
    {"memories*", "is what the program remembers: copy what you need into knowledge"},
    {"plugins", "plugins are not taken: add what you need of them by hand"},
    {"queue*", "has messages that it had not sent yet"},
    {"rules", "permissions have no counterpart: see docs/approvals.md"},
    {"themes", "sets colours of that program's terminal"},
    {"thread_history*", "is an index of what the sessions have"},
    {"worktrees", "are copies of projects"},
    {".*", is_state},
    {"cache", is_state},
    {"cap_sid", is_state},
    {"installation_id", is_state},
    {"internal_storage.json", is_state},
    {"log*", is_state},
    {"models_cache.json", is_state},
    {"packages", is_state},
    {"shell_snapshots", is_state},
    {"sqlite", is_state},
    {"state*", is_state},
    {"thread-writer-locks", is_state},
    {"tmp", is_state},
    {"vendor_imports", is_state},
    {"version.json", is_state},
});

}  // namespace

void read_codex(Importer& importer, const fs::path& path) {
  require_contents(path, codex_contents, "Codex");
  const auto settings = settings_in_file(importer, path / "config.toml").value_or(json::object());
  // Must precede the agent, which names a model.
  read_codex_services(importer, settings);
  const auto agent = import_agent(importer, "codex", "Codex", codex_model(settings));
  if (const auto text = text_of_file(importer, path / "AGENTS.md"))
    importer.add_identity("soul", agent, *text, (path / "AGENTS.md").string());
  import_commands(importer, path / "prompts");
  import_skills(importer, path / "skills", agent);
  import_mcp_servers(importer, codex_servers(settings), "config.toml");
  leave_settings(importer, (path / "config.toml").string(), settings,
                 {"mcp_servers", "model", "model_provider", "model_providers"});
  leave_entries(importer, path, codex_contents);
  import_codex_sessions(importer, path);
}

}  // namespace agw::cli
