// Functions shared by the importers of programs: first those that read files and settings (and report unreadable ones),
// then those that convert their content to extensions: MCP servers, skills, agents, commands. Members without a
// counterpart are reported too, so an import never loses anything silently.

#include "cli/transfer/program_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>

#include "base/containers.hpp"
#include "base/json/json5.hpp"
#include "base/json/json_values.hpp"
#include "base/json/toml.hpp"
#include "base/json/yaml.hpp"
#include "base/text/utf8.hpp"
#include "cli/transfer/byte_source.hpp"
#include "cli/transfer/json_pieces.hpp"
#include "cli/transfer/left_behind.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_text_bytes = 1024 * 1024;
constexpr std::uint64_t max_skill_file_bytes = 16 * 1024 * 1024;
constexpr std::size_t max_skill_files = 1000;
constexpr int max_skill_depth = 3;

json::object with_secrets(Importer& importer, const std::string& server, const json::object& values) {
  json::object kept;
  for (const auto& [name, value] : values) {
    if (value.is_null()) continue;
    // An object says where the other program stores the value.
    const auto text = value.is_object() ? std::string() : text_or_json(value);
    kept[name] =
        importer.add_secret(fmt::format("{}_{}", server, std::string_view(name)), is_reference(text) ? "" : text);
  }
  return kept;
}

json::value settings_in(const fs::path& path, const std::string& text) {
  if (path.extension() == ".yaml") return yaml_to_json(text);
  if (path.extension() == ".toml") return toml_to_json(text);
  if (auto value = parse_json(text, {.allow_comments = true})) return std::move(*value);
  return parse_json5(text).value_or(nullptr);
}

/// Replaces each `${NAME:-text}` by its text, because the variables of the other program are not known.
void fill_defaults(json::value& value) {
  if (auto* object = value.if_object()) {
    for (auto& [name, member] : *object) fill_defaults(member);
  } else if (auto* array = value.if_array()) {
    for (auto& element : *array) fill_defaults(element);
  } else if (auto* text = value.if_string()) {
    constexpr std::string_view begin = "${", mark = ":-";
    std::string filled(*text);
    for (auto at = filled.find(begin); at != filled.npos; at = filled.find(begin, at)) {
      const auto end = filled.find('}', at);
      const auto assigned = std::string_view(filled).substr(0, end).find(mark, at);
      if (end != filled.npos && assigned != filled.npos)
        filled.replace(at, end + 1 - at, filled, assigned + mark.size(), end - assigned - mark.size());
      else
        at += begin.size();
    }
    *text = filled;
  }
}

json::object definition_of(Importer& importer, const std::string& name, json::value given) {
  fill_defaults(given);
  const auto& server = given.as_object();
  json::object definition;
  if (const auto command = string_member(server, "command")) {
    definition = {{"kind", "mcp-stdio"}, {"command", *command}};
    if (const auto args = strings_of(server, "args"); !args.empty())
      definition["args"] = json::array(args.begin(), args.end());
    if (const auto* env = object_member(server, "env")) definition["env"] = with_secrets(importer, name, *env);
  } else if (const auto url = string_member(server, "url")) {
    definition = {{"kind", "mcp-http"}, {"url", *url}};
    if (const auto* headers = object_member(server, "headers"))
      definition["headers"] = with_secrets(importer, name, *headers);
  }
  if (!definition.empty())
    leave_settings(importer, "MCP server " + name, server,
                   {"command", "args", "env", "url", "headers", "type", "transport", "enabled", "disabled",
                    "environment", "env_vars", "http_headers", "env_http_headers", "bearer_token_env_var"});
  return definition;
}

std::optional<std::string> content_of_file(Importer& importer, const fs::path& path, std::uint64_t limit) try {
  if (!is_named_file(importer, path)) return std::nullopt;
  if (fs::file_size(path) > limit) {
    importer.leave(path.string(), fmt::format("is larger than {} MiB", limit >> 20));
    return std::nullopt;
  }
  std::string content;
  const auto read = bytes_of_file(path);
  for (auto bytes = read(); !bytes.empty(); bytes = read()) content += bytes;
  return content;
} catch (const std::runtime_error&) {
  importer.leave(path.string(), "cannot be read");
  return std::nullopt;
}

constexpr auto not_followed = "is a symlink to a folder, which is not followed";

void import_skill(Importer& importer, const fs::path& folder, const fs::path& place) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (is_folder(importer, entry) || !is_found_file(importer, entry.path(), folder)) continue;
    if (++count > max_skill_files) return importer.leave(folder.string(), "has more than 1,000 files");
    const auto content = content_of_file(importer, entry.path(), max_skill_file_bytes);
    const auto target = place / entry.path().lexically_relative(folder);
    const auto mode = mode_like(static_cast<mode_t>(entry.status().permissions()));
    if (content) importer.add_file("files of skills", target, *content, entry.path().string(), mode);
  }
}

void add_skill(const fs::directory_entry& entry, const fs::path& folder, std::vector<fs::path>& skills,
               Importer& importer) {
  const auto why = why_outside(entry.path(), {importer.root(), folder});
  if (why.empty())
    skills.push_back(entry.path());
  else
    importer.leave(entry.path().string(), why);
}

/// Adds the skill folders to `skills`; returns false if there are none.
bool find_skills(const fs::path& folder, int depth, std::vector<fs::path>& skills, Importer& importer) {
  const auto before = skills.size();
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    // Hidden folders contain the programs' own state.
    if (!entry.is_directory(ignored) || entry.path().filename().string().starts_with('.')) continue;
    if (fs::is_regular_file(entry.path() / "SKILL.md", ignored))
      add_skill(entry, folder, skills, importer);
    else if (entry.is_symlink(ignored))
      importer.leave(entry.path().string(), not_followed);
    else if (depth == max_skill_depth || !find_skills(entry.path(), depth + 1, skills, importer))
      if (depth == 1) importer.leave(entry.path().string(), "has no SKILL.md");
  }
  return skills.size() > before;
}

/// Reads a head like Claude Code up to 2.0, which supports no more than this.
json::object lines_of_head(std::string_view head) {
  json::object members;
  while (!head.empty()) {
    const auto line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(head.size(), line.size() + 1));
    const auto colon = line.find(':');
    if (colon == line.npos || line.starts_with(' ') || line.starts_with('-')) continue;
    auto value = line.substr(colon + 1);
    const auto begin = value.find_first_not_of(" \t\r\"'");
    if (begin == value.npos) continue;
    value = value.substr(begin, value.find_last_not_of(" \t\r\"'") - begin + 1);
    members[line.substr(0, colon)] = value;
  }
  return members;
}

/// Tools that work the same in Claude Code and here.
constexpr std::array<std::string_view, 8> shared_tools = {"Bash", "Edit",     "Glob",      "Grep",
                                                          "Read", "WebFetch", "WebSearch", "Write"};

void take_model(Importer& importer, const std::string& what, const std::string& model, json::object& definition) {
  if (model.empty() || model == "inherit") return;
  if (const auto name = importer.model_here(model))
    definition["model"] = *name;
  else
    importer.leave("model of " + what, fmt::format("there is no {} here: choose one by hand", model));
}

/// Sets no tools if none of them exists here: an agent without tools could do nothing.
void take_tools(Importer& importer, const std::string& what, json::object& from, json::object& definition) {
  auto named = strings_of(from, "tools");
  if (const auto text = string_member(from, "tools"))
    boost::split(named, *text, boost::is_any_of(", "), boost::token_compress_on);
  json::array taken;
  std::vector<std::string> others;
  for (auto& tool : named) {
    if (!contains(shared_tools, tool))
      others.push_back(std::move(tool));
    else
      taken.emplace_back(tool);
  }
  if (taken.empty()) return;
  for (const auto& other : others)
    importer.leave(fmt::format("tool {} of {}", other, what), "is not known by this name here: choose it by hand");
  definition["tools"] = std::move(taken);
  from.erase("tools");
}

void take_temperature(json::object& from, json::object& definition) {
  const auto* value = from.if_contains("temperature");
  const auto temperature = value && value->is_number() ? value->to_number<double>() : -1;
  if (temperature < 0 || temperature > 2) return;
  definition["temperature"] = *value;
  from.erase("temperature");
}

void take_agent(Importer& importer, const std::string& what, json::object& from, json::object& definition) {
  const auto agent = string_or_empty(from, "agent");
  if (agent.empty()) return;
  if (const auto name = importer.agent_here(agent))
    definition["agent_id"] = *name;
  else
    importer.leave("agent of " + what, fmt::format("there is no {} here: choose one by hand", agent));
  from.erase("agent");
}

}  // namespace

bool is_reference(std::string_view value) {
  return value.find("${") != value.npos || value.find("{env:") != value.npos || value.find("{file:") != value.npos;
}

bool is_folder(Importer& importer, const fs::directory_entry& entry) {
  std::error_code ignored;
  if (!entry.is_directory(ignored)) return false;
  if (entry.is_symlink(ignored)) importer.leave(entry.path().string(), not_followed);
  return true;
}

std::vector<fs::path> files_below(Importer& importer, const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
    if (is_folder(importer, entry) || !has_extension(entry.path(), extension)) continue;
    if (is_found_file(importer, entry.path(), folder)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

bool is_named_file(Importer& importer, const fs::path& path) {
  const auto why = why_no_file(path);
  if (!why.empty()) importer.leave(path.string(), why);
  return why.empty() && fs::exists(path);
}

bool is_found_file(Importer& importer, const fs::path& path, const fs::path& folder) {
  const auto why = why_unread(path, {importer.root(), folder});
  if (!why.empty()) importer.leave(path.string(), why);
  return why.empty() && fs::exists(path);
}

std::optional<std::string> text_of_file(Importer& importer, const fs::path& path) {
  auto text = content_of_file(importer, path, max_text_bytes);
  if (text && text->starts_with(byte_order_mark)) text->erase(0, byte_order_mark.size());
  if (!text || is_utf8(*text)) return text;
  importer.leave(path.string(), "is not text in UTF-8");
  return std::nullopt;
}

std::optional<json::object> settings_in_file(Importer& importer, const fs::path& path) {
  const auto text = text_of_file(importer, path);
  if (!text) return std::nullopt;
  std::string why = "is not JSON";
  try {
    auto value = settings_in(path, *text);
    if (value.is_object()) return std::move(value.get_object());
  } catch (const YamlError& error) {
    why = error.what();
  } catch (const TomlError& error) {
    why = error.what();
  }
  importer.leave(path.string(), why + ": add what it sets by hand");
  return std::nullopt;
}

HeadedText headed_text(Importer& importer, const fs::path& file, const std::string& text) {
  const auto first = text.find('\n');
  if (!text.starts_with("---") || text.find_first_not_of(" \t\r", 3) != first) return {{}, text};
  const auto end = text.find("\n---", first);
  if (end == text.npos) return {{}, text};
  const auto body = text.find('\n', end + 1);
  HeadedText headed{{}, body == text.npos ? std::string() : text.substr(body + 1)};
  const auto head = text.substr(first + 1, end - first);
  try {
    auto value = yaml_to_json(head);
    if (value.is_object()) headed.head = std::move(value.get_object());
  } catch (const YamlError& error) {
    headed.head = lines_of_head(head);
    importer.leave("head of " + file.string(), fmt::format("{}; only its lines `name: value` were read", error.what()));
  }
  return headed;
}

void leave_members(Importer& importer, const std::string& what, const json::object& from,
                   std::initializer_list<std::string_view> taken) {
  for (const auto& [key, value] : from) {
    const std::string_view name(key);
    if (contains(taken, name) || value.is_null()) continue;
    const bool is_tools = name.find("tools") != name.npos || name.find("Tools") != name.npos;
    importer.leave(fmt::format("{} of {}", name, what),
                   is_tools ? "tools have other names here: choose them by hand" : "has no counterpart here");
  }
}

void import_mcp_servers(Importer& importer, const json::object& servers, const std::string& origin) {
  for (const auto& [key, value] : servers) {
    const std::string name(key);
    auto definition = value.is_object() ? definition_of(importer, name, value) : json::object();
    if (definition.empty()) {
      importer.leave("MCP server " + name, "has neither a command nor a url");
      continue;
    }
    importer.add_extension({{"type", "integration"},
                            {"name", name},
                            {"description", fmt::format("MCP server {} of {}", name, importer.source())},
                            {"definition", std::move(definition)}},
                           origin + "#" + name);
  }
}

void import_skills(Importer& importer, const fs::path& folder, const std::string& agent,
                   const std::set<std::string>& without) {
  if (!fs::is_directory(folder)) return;
  std::vector<fs::path> skills;
  find_skills(folder, 1, skills, importer);
  std::ranges::sort(skills);
  std::set<std::string> names;
  for (const auto& skill : skills) {
    const auto wanted = skill.filename().string();
    if (without.contains(wanted)) continue;
    const auto base = extension_name_from(wanted, "skill");
    auto name = base;
    for (int number = 2; !names.insert(name).second; ++number) name = fmt::format("{}-{}", base, number);
    if (name != wanted) importer.note(fmt::format("skill {} is named {} here", wanted, name));
    import_skill(importer, skill, fs::path("agents") / agent / "skills" / name);
  }
}

json::object definition_with_model(Importer& importer, const std::string& agent, const std::string& model) {
  json::object definition;
  take_model(importer, "agent " + agent, model, definition);
  return definition;
}

void take_members(Importer& importer, const std::string& type, const std::string& name, json::object& from,
                  json::object& definition) {
  const auto what = fmt::format("{} {}", type, name);
  take_model(importer, what, string_or_empty(from, "model"), definition);
  if (string_member(from, "model")) from.erase("model");
  if (type == "command") return take_agent(importer, what, from, definition);
  take_tools(importer, what, from, definition);
  take_temperature(from, definition);
}

std::string import_agent(Importer& importer, const std::string& name, const std::string& program,
                         const std::string& model) {
  return importer.add_extension({{"type", "agent"},
                                 {"name", name},
                                 {"description", fmt::format("Taken over from {}", program)},
                                 {"definition", definition_with_model(importer, name, model)}},
                                "agent");
}

void import_agents(Importer& importer, const fs::path& folder) {
  leave_other_files(importer, folder, ".md");
  for (const auto& file : files_below(importer, folder, ".md")) {
    const auto text = text_of_file(importer, file);
    if (!text) continue;
    auto [head, body] = headed_text(importer, file, *text);
    auto name = string_or_empty(head, "name");
    if (name.empty()) name = file.lexically_relative(folder).replace_extension().string();
    json::object definition{{"systemPrompt", body}};
    take_members(importer, "agent", name, head, definition);
    importer.add_extension({{"type", "agent"},
                            {"name", name},
                            {"description", shortened(string_or_empty(head, "description"), 500)},
                            {"definition", std::move(definition)}},
                           "agents/" + file.lexically_relative(folder).string());
    leave_members(importer, "agent " + name, head, {"name", "description"});
  }
}

void import_commands(Importer& importer, const fs::path& folder) {
  leave_other_files(importer, folder, ".md");
  for (const auto& file : files_below(importer, folder, ".md")) {
    const auto text = text_of_file(importer, file);
    if (!text) continue;
    auto [head, body] = headed_text(importer, file, *text);
    const auto name = file.lexically_relative(folder).replace_extension().string();
    if (body.empty()) {
      importer.leave(file.string(), "has no prompt");
      continue;
    }
    json::object definition{{"prompt", body}};
    take_members(importer, "command", name, head, definition);
    importer.add_extension({{"type", "command"},
                            {"name", name},
                            {"description", shortened(string_or_empty(head, "description"), 500)},
                            {"definition", std::move(definition)}},
                           file.filename().string());
    leave_members(importer, "command " + name, head, {"description"});
  }
}

}  // namespace agw::cli
