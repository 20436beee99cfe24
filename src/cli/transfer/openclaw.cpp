// The directory of OpenClaw: openclaw.json, workspace/ with SOUL.md, USER.md, AGENTS.md, MEMORY.md and others, skills/,
// cron/jobs.json, and sessions in agents/<agent>/sessions/<id>.jsonl. Documented at
// https://docs.openclaw.ai/concepts/agent-workspace and https://docs.openclaw.ai/automation/cron-jobs; the lines of a
// session are described in https://github.com/JunWan666/openclaw-termux-zh (docs/jsonl_format_guide.md).

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

/// Its blocks are those of Anthropic's API but for the calls.
void read_openclaw_blocks(const json::array& blocks, SourceMessage& message) {
  for (const auto& block : blocks) {
    const auto* object = block.if_object();
    if (object && string_or_empty(*object, "type") == "toolCall") {
      message.calls.push_back(
          {string_or_empty(*object, "id"), string_or_empty(*object, "name"), object_or_empty(*object, "arguments")});
    } else {
      read_blocks({block}, message);
    }
  }
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
  } else if (role == "user" || role == "assistant") {
    message.role = role == "user" ? Role::user : Role::assistant;
    message.text = std::move(said.text);
    message.reasoning = std::move(said.reasoning);
    message.calls = std::move(said.calls);
    message.model = string_or_empty(*from, "model");
  }
  return message;
}

void read_openclaw_session(Importer& importer, const fs::path& file, const std::string& agent) {
  if (fs::file_size(file) > max_piece_bytes) return importer.leave(file.string(), "is larger than 24 MiB");
  SourceConversation conversation;
  conversation.head.key = fmt::format("{}/{}", agent, file.stem().string());
  for_each_line(importer, file, [&](const json::object& line) {
    if (string_or_empty(line, "type") == "session") conversation.head.created_at = time_in(line, "timestamp");
    auto message = openclaw_message(line);
    if (string_or_empty(line, "type") != "session" && !message.id.empty())
      conversation.messages.push_back(std::move(message));
    return true;
  });
  const bool is_empty =
      std::ranges::all_of(conversation.messages, [](const auto& each) { return each.role == Role::system; });
  if (is_empty) return importer.leave(file.string(), "has no messages");
  import_conversation(importer, std::move(conversation));
}

void read_openclaw_sessions(Importer& importer, const fs::path& agents) {
  if (!fs::is_directory(agents)) return;
  std::vector<fs::path> files;
  for (const auto& agent : fs::directory_iterator(agents)) {
    const auto folder = agent.path() / "sessions";
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file() && !entry.is_symlink() && entry.path().extension() == ".jsonl")
        files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    importer.show_progress("sessions", i, files.size());
    read_openclaw_session(importer, files[i], files[i].parent_path().parent_path().filename().string());
  }
}

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
    model["vision"] = std::ranges::find(inputs, "image") != inputs.end();
  }
  return model;
}

void read_openclaw_services(Importer& importer, const json::object& settings) {
  const auto defaults = object_or_empty(object_or_empty(settings, "agents"), "defaults");
  auto chosen = string_or_empty(object_or_empty(defaults, "model"), "primary");
  if (chosen.empty()) chosen = string_or_empty(defaults, "model");
  for (const auto& [key, value] : object_or_empty(object_or_empty(settings, "models"), "providers")) {
    if (!value.is_object()) continue;
    const auto& provider = value.get_object();
    SourceService service{.name = std::string(key),
                          .api = openclaw_api(string_or_empty(provider, "api")),
                          .base_url = string_or_empty(provider, "baseUrl"),
                          .key = key_in(provider, "apiKey"),
                          .headers = object_or_empty(provider, "headers")};
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
  read_openclaw_services(importer, settings);
  if (settings.contains("channels")) importer.leave("channels of " + file.string(), "are logins of that program");
}

/// Its workspace: what it is and what it knows.
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
  for (const auto& file : files_below(folder / "memory", ".md")) {
    const auto text = text_of_file(importer, file);
    const auto name = extension_name_from(file.lexically_relative(folder).replace_extension().string(), "memory-page");
    if (text) importer.add_file("knowledge pages", pages / (name + ".md"), *text, file.string());
  }
  import_skills(importer, folder / "skills", agent);
}

/// A path of the settings; `~` is where the directory of the program is.
fs::path path_in(const fs::path& root, const std::string& text) {
  const auto home = fs::absolute(root / "..").lexically_normal();
  if (text == "~" || text.starts_with("~/")) return home / text.substr(std::min<std::size_t>(text.size(), 2));
  return fs::path(text).is_absolute() ? fs::path(text) : home / text;
}

/// The agents that its settings name besides the main one, each with a workspace of its own.
void read_openclaw_agents(Importer& importer, const json::object& settings, const fs::path& root,
                          const std::string& main_agent) {
  const auto agents = object_or_empty(settings, "agents");
  auto workspace = string_or_empty(object_or_empty(agents, "defaults"), "workspace");
  if (workspace.empty()) workspace = string_or_empty(object_or_empty(settings, "agent"), "workspace");
  auto main_workspace = workspace.empty() ? root / "workspace" : path_in(root, workspace);
  std::vector<json::object> list;
  const auto* named = array_member(agents, "list");
  for (const auto& each : named ? *named : json::array()) {
    if (each.is_object() && !string_or_empty(each.get_object(), "id").empty()) list.push_back(each.get_object());
  }
  auto main = std::ranges::find_if(list, [](const auto& each) { return is_true(each, "default"); });
  if (main == list.end()) main = list.begin();
  for (auto each = list.begin(); each != list.end(); ++each) {
    const auto own = string_or_empty(*each, "workspace");
    const auto id = string_or_empty(*each, "id");
    if (each == main) {
      if (!own.empty()) main_workspace = path_in(root, own);
      continue;
    }
    const auto title = string_or_empty(*each, "name");
    const auto name =
        importer.add_extension({{"type", "agent"},
                                {"name", extension_name_from("openclaw-" + id, "openclaw-agent")},
                                {"description", fmt::format("The agent {} of OpenClaw", title.empty() ? id : title)},
                                {"definition", json::object()}},
                               "agents/" + id);
    read_openclaw_workspace(importer, own.empty() ? root / ("workspace-" + id) : path_in(root, own), name);
  }
  read_openclaw_workspace(importer, main_workspace, main_agent);
}

}  // namespace

void read_openclaw(Importer& importer, const fs::path& path) {
  if (!fs::is_directory(path)) throw std::runtime_error(path.string() + ": there is no such folder");
  const auto agent = import_agent(importer, "openclaw", "OpenClaw");
  const auto file = path / "openclaw.json";
  const auto settings = settings_in_file(importer, file).value_or(json::object());
  read_openclaw_agents(importer, settings, path, agent);
  import_skills(importer, path / "skills", agent);
  import_jobs(importer, path / "cron" / "jobs.json", agent);
  read_openclaw_settings(importer, settings, file);
  if (fs::exists(path / "credentials"))
    importer.leave((path / "credentials").string(), "are logins: they are never read");
  read_openclaw_sessions(importer, path / "agents");
}

}  // namespace agw::cli
