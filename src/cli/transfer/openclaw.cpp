// The directory of OpenClaw: openclaw.json, workspace/ with SOUL.md, USER.md, AGENTS.md, MEMORY.md and others, skills/,
// jobs in state/openclaw.sqlite (before 2026.9 in cron/jobs.json), and sessions in agents/. Documented at
// https://docs.openclaw.ai/concepts/agent-workspace and https://docs.openclaw.ai/automation/cron-jobs. Checked with
// version 2026.9.6.

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "cli/transfer/left_behind.hpp"
#include "cli/transfer/model_services.hpp"
#include "cli/transfer/openclaw_sessions.hpp"
#include "cli/transfer/program_files.hpp"
#include "cli/transfer/program_store.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

std::string openclaw_api(std::string_view api) {
  if (api.empty() || api == "openai-completions") return "openai-chat";
  if (api == "openai-responses") return "openai-responses";
  if (api == "anthropic-messages") return "anthropic";
  if (api == "google-generative-ai") return "gemini";
  return api == "ollama" ? "ollama" : "";
}

json::object openclaw_model(const json::object& from) {
  json::object model{{"id", string_or_empty(from, "id")}};
  const auto copy = [&](std::string_view name, std::string_view to) {
    const auto* value = from.if_contains(name);
    if (value && value->is_int64() && value->get_int64() > 0) model[to] = *value;
  };
  copy("contextWindow", "context_window");
  copy("maxTokens", "max_output");
  if (from.contains("input")) {
    const auto inputs = strings_of(from, "input");
    model["vision"] = contains(inputs, "image");
  }
  return model;
}

/// The model of an agent: a text, or an object with a primary model and fallbacks.
std::string openclaw_model_of(const json::object& agent) {
  const auto primary = string_or_empty(object_or_empty(agent, "model"), "primary");
  return primary.empty() ? string_or_empty(agent, "model") : primary;
}

json::object openclaw_defaults(const json::object& settings) {
  return object_or_empty(object_or_empty(settings, "agents"), "defaults");
}

void read_openclaw_services(Importer& importer, const json::object& settings) {
  const auto chosen = openclaw_model_of(openclaw_defaults(settings));
  for (const auto& [key, value] : object_or_empty(object_or_empty(settings, "models"), "providers")) {
    if (!value.is_object()) continue;
    const auto& provider = value.get_object();
    SourceService service{.name = std::string(key),
                          .api = openclaw_api(string_or_empty(provider, "api")),
                          .base_url = string_or_empty(provider, "baseUrl"),
                          .key = key_in(provider, "apiKey"),
                          .headers = object_or_empty(provider, "headers")};
    leave_settings(importer, "model service " + service.name, provider,
                   {"api", "apiKey", "auth", "baseUrl", "headers", "models"});
    const auto* models = array_member(provider, "models");
    for (const auto& model : models ? *models : json::array()) {
      if (model.is_object()) service.models.push_back(openclaw_model(model.get_object()));
    }
    service.default_model = model_of_service(chosen, service.name);
    import_model_service(importer, std::move(service), "openclaw.json");
  }
}

void read_openclaw_settings(Importer& importer, const json::object& settings, const fs::path& file) {
  const auto mcp = object_or_empty(settings, "mcp");
  if (const auto* servers = object_member(mcp, "servers")) import_mcp_servers(importer, *servers, "openclaw.json");
  if (settings.contains("channels")) importer.leave("channels of " + file.string(), "are logins of that program");
  leave_settings(importer, file.string(), settings,
                 {"$schema", "agent", "agents", "channels", "mcp", "meta", "models"});
  leave_settings(importer, "agents in " + file.string(), openclaw_defaults(settings), {"model", "models", "workspace"});
}

constexpr auto openclaw_contents = std::to_array<KnownEntry>({
    {"agents"},
    {"cron"},
    {"openclaw.json"},
    {"skills"},
    {"state"},
    {"workspace*"},
    {".env", has_logins},
    {"credentials", "are logins: they are never read"},
    {"devices", has_logins},
    {"exec-approvals.json", "permissions have no counterpart: see docs/approvals.md"},
    {"extensions", "plugins are not taken: add what you need of them by hand"},
    {"flows", "are not taken: add what you need of them by hand"},
    {"hooks", "hooks have no counterpart: see docs/approvals.md"},
    {"identity", has_logins},
    {"media", "are files of its channels"},
    {"memory", "is an index of what the workspaces have"},
    {"npm", "plugins are not taken: add what you need of them by hand"},
    {"pairing", has_logins},
    {"plugin-skills", "plugins are not taken: add what you need of them by hand"},
    {"plugins", "plugins are not taken: add what you need of them by hand"},
    {".*", is_state},
    {"backups", is_state},
    {"browser", is_state},
    {"cache", is_state},
    {"canvas", is_state},
    {"completions", is_state},
    {"config-journal-fingerprint.key", is_state},
    {"delivery-queue", is_state},
    {"logs", is_state},
    {"nodes", is_state},
    {"openclaw.json.*", is_state},
    {"sandbox*", is_state},
    {"session-delivery-queue", is_state},
    {"settings", is_state},
    {"subagents", is_state},
    {"tasks", is_state},
    {"tmp", is_state},
    {"update-check.json", is_state},
});

constexpr auto openclaw_workspace = std::to_array<KnownEntry>({
    {"AGENTS.md"},
    {"IDENTITY.md"},
    {"MEMORY.md"},
    {"SOUL.md"},
    {"TOOLS.md"},
    {"USER.md"},
    {"memory"},
    {"skills"},
    {"BOOT.md", "is what the program does at its start"},
    {"BOOTSTRAP.md", "is what the program does at its first start"},
    {"HEARTBEAT.md", "is upkeep of that program's own"},
    {".*", is_state},
    {"*", "is no text of the workspace's own: copy what you need into a project"},
});

/// Reads the workspace of an agent: its identity and its knowledge.
void read_openclaw_workspace(Importer& importer, const fs::path& folder, const std::string& agent) {
  std::string soul;
  for (const auto* name : {"SOUL.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md"}) {
    const auto text = text_of_file(importer, folder / name);
    if (text && !text->empty()) soul += (soul.empty() ? "" : "\n\n") + *text;
  }
  importer.add_identity("soul", agent, soul, (folder / "SOUL.md").string());
  if (const auto text = text_of_file(importer, folder / "USER.md"))
    importer.add_identity("user-profile", agent, *text, (folder / "USER.md").string());
  const auto pages = fs::path("agents") / agent / "knowledge";
  if (const auto text = text_of_file(importer, folder / "MEMORY.md"))
    importer.add_file("knowledge pages", pages / "memory.md", *text, (folder / "MEMORY.md").string());
  for (const auto& file : files_below(importer, folder / "memory", ".md")) {
    const auto text = text_of_file(importer, file);
    const auto name = extension_name_from(file.lexically_relative(folder).replace_extension().string(), "memory-page");
    if (text) importer.add_file("knowledge pages", pages / (name + ".md"), *text, file.string());
  }
  import_skills(importer, folder / "skills", agent);
  leave_entries(importer, folder, openclaw_workspace);
}

/// A path in the settings; `~` is the parent of the program's directory.
fs::path path_in(const fs::path& root, const std::string& text) {
  const auto home = fs::absolute(root / "..").lexically_normal();
  if (text == "~" || text.starts_with("~/")) return home / text.substr(std::min<std::size_t>(text.size(), 2));
  return fs::path(text).is_absolute() ? fs::path(text) : home / text;
}

/// An additional agent in the settings, with its own workspace.
void read_openclaw_agent(Importer& importer, const json::object& from, const fs::path& root,
                         const std::string& usual_model) {
  const auto id = string_or_empty(from, "id");
  const auto title = string_or_empty(from, "name");
  const auto model = openclaw_model_of(from);
  const auto wanted = extension_name_from("openclaw-" + id, "openclaw-agent");
  const auto name = importer.add_extension(
      {{"type", "agent"},
       {"name", wanted},
       {"description", fmt::format("The agent {} of OpenClaw", title.empty() ? id : title)},
       {"definition", definition_with_model(importer, wanted, model.empty() ? usual_model : model)}},
      "agents/" + id);
  leave_settings(importer, "agent " + id, from, {"default", "id", "model", "name", "workspace", "agentDir"});
  const auto own = string_or_empty(from, "workspace");
  read_openclaw_workspace(importer, own.empty() ? root / ("workspace-" + id) : path_in(root, own), name);
}

/// The agents in the settings: `list` or, since 2026.9, `entries` by their ids.
std::vector<json::object> openclaw_agents(const json::object& agents) {
  std::vector<json::object> list;
  const auto* named = array_member(agents, "list");
  for (const auto& each : named ? *named : json::array()) {
    if (each.is_object() && !string_or_empty(each.get_object(), "id").empty()) list.push_back(each.get_object());
  }
  for (const auto& [id, value] : object_or_empty(agents, "entries")) {
    if (!value.is_object()) continue;
    auto agent = value.get_object();
    agent["id"] = id;
    list.push_back(std::move(agent));
  }
  return list;
}

/// Reads the agents; the main one represents the program. Returns its name.
std::string read_openclaw_agents(Importer& importer, const json::object& settings, const fs::path& root) {
  const auto agents = object_or_empty(settings, "agents");
  const auto defaults = openclaw_defaults(settings);
  auto workspace = string_or_empty(defaults, "workspace");
  if (workspace.empty()) workspace = string_or_empty(object_or_empty(settings, "agent"), "workspace");
  const auto list = openclaw_agents(agents);
  auto main = std::ranges::find_if(list, [](const auto& each) { return is_true(each, "default"); });
  if (main == list.end())
    main = std::ranges::find_if(list, [](const auto& each) { return string_or_empty(each, "id") == "main"; });
  if (main == list.end()) main = list.begin();
  auto model = openclaw_model_of(defaults);
  const auto usual_model = model;
  if (main != list.end()) {
    if (auto own = string_or_empty(*main, "workspace"); !own.empty()) workspace = std::move(own);
    if (auto own = openclaw_model_of(*main); !own.empty()) model = std::move(own);
  }
  const auto agent = import_agent(importer, "openclaw", "OpenClaw", model);
  for (auto each = list.begin(); each != list.end(); ++each) {
    if (each != main) read_openclaw_agent(importer, *each, root, usual_model);
  }
  read_openclaw_workspace(importer, workspace.empty() ? root / "workspace" : path_in(root, workspace), agent);
  return agent;
}

/// The jobs of 2026.9 and later.
void read_openclaw_jobs(Importer& importer, const fs::path& file, const std::string& agent) try {
  if (!is_named_file(importer, file)) return;
  ProgramStore store(file);
  store.for_each_row("cron_jobs", "sort_order, job_id", [&](const json::object& row) {
    const auto what = "job " + string_or_empty(row, "name");
    const auto job = source_json(importer, string_or_empty(row, "job_json"), what);
    if (!job || !job->is_object()) return importer.leave(what, "is no job in JSON");
    // Skips heartbeats, reviews of skills and similar maintenance.
    if (job->get_object().contains("declarationKey")) return importer.leave(what, "is upkeep of that program's own");
    import_job(importer, job->get_object(), agent);
  });
} catch (const DatabaseError& error) {
  importer.leave(file.string(), fmt::format("cannot be read: {}", error.what()));
}

}  // namespace

void read_openclaw(Importer& importer, const fs::path& path) {
  require_contents(path, openclaw_contents, "OpenClaw");
  const auto file = path / "openclaw.json";
  const auto settings = settings_in_file(importer, file).value_or(json::object());
  // Must precede the agents, which name models.
  read_openclaw_services(importer, settings);
  const auto agent = read_openclaw_agents(importer, settings, path);
  import_skills(importer, path / "skills", agent);
  import_jobs(importer, path / "cron" / "jobs.json", agent);
  read_openclaw_jobs(importer, path / "state" / "openclaw.sqlite", agent);
  read_openclaw_settings(importer, settings, file);
  leave_entries(importer, path, openclaw_contents);
  import_openclaw_sessions(importer, path / "agents");
}

}  // namespace agw::cli
