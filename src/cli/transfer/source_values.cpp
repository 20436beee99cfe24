#include "cli/transfer/source_values.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"
#include "base/text/utf8.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_text_bytes = 1024 * 1024;
constexpr std::size_t max_skill_files = 1000;

std::optional<Timestamp> time_from(double milliseconds) {
  constexpr double first = -62'135'596'800'000.0;
  constexpr double last = 253'402'300'799'999.0;
  if (!std::isfinite(milliseconds) || milliseconds < first || milliseconds > last) return std::nullopt;
  return Timestamp(std::chrono::milliseconds(std::llround(milliseconds)));
}

std::optional<Timestamp> time_of(const json::value* value, double factor) {
  if (!value) return std::nullopt;
  if (value->is_string()) return parse_iso8601(std::string_view(value->get_string()));
  if (value->is_number()) return time_from(value->to_number<double>() * factor);
  return std::nullopt;
}

bool is_conversations(const std::string& path) {
  const auto name = fs::path(path).filename().string();
  return name.starts_with("conversations") && name.ends_with(".json");
}

void read_conversations(Importer& importer, const ExportedFile& file, std::uint64_t& done, std::uint64_t total,
                        const std::function<void(json::object)>& each) {
  JsonElements elements(
      [&] {
        const auto bytes = file.read();
        done += bytes.size();
        return bytes;
      },
      max_piece_bytes);
  std::string text;
  std::uint64_t count = 0;
  while (elements.next(text)) {
    importer.show_progress(file.path, done, std::max(done, total));
    const auto place = fmt::format("{}[{}]", file.path, count++);
    auto value = parse_json(text);
    if (value && value->is_object())
      each(std::move(value->get_object()));
    else
      importer.leave(place, "is not a conversation in JSON");
  }
  if (elements.too_large() > 0)
    importer.leave(fmt::format("{} conversations of {}", elements.too_large(), file.path), "are larger than 24 MiB");
  if (elements.is_truncated())
    importer.leave(file.path, fmt::format("is cut off after {} conversations: get the export again", count));
}

/// A value that refers to a variable is no key.
bool is_reference(std::string_view value) { return value.starts_with("${") && value.ends_with('}'); }

json::object with_secrets(Importer& importer, const std::string& server, const json::object& values) {
  json::object kept;
  for (const auto& [name, value] : values) {
    if (!value.is_string()) continue;
    const std::string text(value.get_string());
    const auto key = fmt::format("{}_{}", server, std::string_view(name));
    kept[name] = is_reference(text) ? importer.add_secret(key, {}) : importer.add_secret(key, text);
  }
  return kept;
}

json::object definition_of(Importer& importer, const std::string& name, const json::object& server) {
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
  return definition;
}

void import_skill(Importer& importer, const fs::path& folder, const std::string& agent) {
  const auto wanted = folder.filename().string();
  const auto name = extension_name_from(wanted, "skill");
  const auto place = fs::path("agents") / agent / "skills" / name;
  std::size_t count = 0;
  for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator(); ++entry) {
    if (entry->is_symlink()) {
      if (entry->is_directory()) entry.disable_recursion_pending();
      importer.leave(entry->path().string(), "is a symlink");
    } else if (entry->is_regular_file()) {
      if (++count > max_skill_files) return importer.leave(folder.string(), "has more than 1,000 files");
      const auto text = text_of_file(importer, entry->path());
      const auto target = place / entry->path().lexically_relative(folder);
      if (text) importer.add_file("files of skills", target, *text, entry->path().string());
    }
  }
}

}  // namespace

std::optional<Timestamp> time_in(const json::object& object, std::string_view name) {
  return time_of(object.if_contains(name), 1000);
}

std::optional<Timestamp> time_in_ms(const json::object& object, std::string_view name) {
  return time_of(object.if_contains(name), 1);
}

void for_each_conversation(Importer& importer, const fs::path& path, const std::function<void(json::object)>& each) {
  std::uint64_t done = 0;
  bool found = false;
  for_each_file(path, [&](const ExportedFile& file) {
    if (!is_conversations(file.path) && !fs::is_regular_file(path)) return;
    if (!is_conversations(file.path) && file.path != path.filename().string()) return;
    found = true;
    read_conversations(importer, file, done, done + file.size, each);
  });
  if (!found) throw std::runtime_error(path.string() + ": contains no conversations.json");
}

void for_each_line(Importer& importer, const fs::path& path, const std::function<bool(json::object)>& each) {
  TextLines lines(bytes_of_file(path), max_piece_bytes);
  std::string line;
  std::uint64_t broken = 0;
  while (lines.next(line)) {
    auto value = parse_json(line);
    if (!value || !value->is_object())
      ++broken;
    else if (!each(std::move(value->get_object())))
      return;
  }
  broken += lines.too_large();
  if (broken > 0) importer.leave(fmt::format("{} lines of {}", broken, path.string()), "are not JSON, or too long");
}

std::optional<std::string> text_of_file(Importer& importer, const fs::path& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed || !fs::is_regular_file(path)) return std::nullopt;
  if (size > max_text_bytes) {
    importer.leave(path.string(), "is larger than 1 MiB");
    return std::nullopt;
  }
  std::string text;
  const auto read = bytes_of_file(path);
  for (auto bytes = read(); !bytes.empty(); bytes = read()) text += bytes;
  if (is_utf8(text)) return text;
  importer.leave(path.string(), "is not text in UTF-8");
  return std::nullopt;
}

HeadedText headed_text(const std::string& text) {
  if (!text.starts_with("---\n")) return {{}, text};
  const auto end = text.find("\n---", 3);
  if (end == text.npos) return {{}, text};
  const auto body = text.find('\n', end + 1);
  HeadedText headed{{}, body == text.npos ? std::string() : text.substr(body + 1)};
  try {
    auto head = yaml_to_json(text.substr(4, end - 3));
    if (head.is_object()) headed.head = std::move(head.get_object());
  } catch (const YamlError&) {
    headed.body = text;
  }
  return headed;
}

void import_mcp_servers(Importer& importer, const json::object& servers, const std::string& origin) {
  for (const auto& [key, value] : servers) {
    const std::string name(key);
    auto definition = value.is_object() ? definition_of(importer, name, value.get_object()) : json::object();
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

void import_skills(Importer& importer, const fs::path& folder, const std::string& agent) {
  if (!fs::is_directory(folder)) return;
  std::vector<fs::path> skills;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (!entry.is_directory() || entry.is_symlink()) continue;
    if (fs::is_regular_file(entry.path() / "SKILL.md"))
      skills.push_back(entry.path());
    else
      importer.leave(entry.path().string(), "has no SKILL.md");
  }
  std::ranges::sort(skills);
  for (const auto& skill : skills) import_skill(importer, skill, agent);
}

void import_agent(Importer& importer, const std::string& name, const std::string& program) {
  importer.add_extension({{"type", "agent"},
                          {"name", name},
                          {"description", fmt::format("Taken over from {}", program)},
                          {"definition", json::object()}},
                         "agent");
}

void import_commands(Importer& importer, const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && !entry.is_symlink() && entry.path().extension() == ".md")
      files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    const auto text = text_of_file(importer, file);
    if (!text) continue;
    auto [head, body] = headed_text(*text);
    const auto name = file.lexically_relative(folder).replace_extension().string();
    if (body.empty()) {
      importer.leave(file.string(), "has no prompt");
      continue;
    }
    importer.add_extension({{"type", "command"},
                            {"name", name},
                            {"description", shortened(string_or_empty(head, "description"), 500)},
                            {"definition", json::object{{"prompt", body}}}},
                           file.filename().string());
  }
}

}  // namespace agw::cli
