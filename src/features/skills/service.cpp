#include "features/skills/service.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "features/skills/skill_text.hpp"
#include "io/files/directory.hpp"
#include "io/sandbox/private_files.hpp"

namespace agw {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_folders = 2'000;
constexpr std::size_t max_resources = 200;
constexpr int max_resource_depth = 5;
constexpr std::size_t max_file_length = 1 << 20;
constexpr std::array<std::string_view, 2> file_names{"SKILL.md", "skill.md"};

using SkillsByName = std::map<std::string, Skill>;

/// A root directory, and the path of skills below it.
using Place = std::pair<fs::path, std::string>;

void take(SkillsByName& skills, const Directory& root, const Place& place, const std::string& name) {
  const auto folder = place.second + "/" + name;
  for (const auto file_name : file_names) {
    const auto text = root.read(fmt::format("{}/{}", folder, file_name), max_file_length);
    if (!text) {
      if (text.error() == FileError::not_found) continue;
      return log::warn("skill {} is left out: {}", (place.first / folder).string(), to_string(text.error()));
    }
    std::string why;
    const auto read = read_skill_text(to_utf8(*text), why);
    if (!read) return log::warn("skill {} is left out: {}", (place.first / folder).string(), why);
    if (read->for_people) return;
    const auto own_name = read->name.empty() ? name : read->name;
    skills.emplace(own_name, Skill{own_name, read->description, place.first, folder, std::string(file_name)});
    return;
  }
}

void add_folder(SkillsByName& skills, const Place& place) {
  const auto root = Directory::open(place.first);
  if (!root) return;
  std::vector<std::string> names;
  const auto visited = root->visit(place.second, [&](const DirectoryEntry& entry) {
    const bool may_be_one = entry.type == FileType::directory || entry.type == FileType::symlink;
    if (may_be_one && entry.name != ".git" && entry.name != "node_modules") names.push_back(entry.name);
    return names.size() < max_folders;
  });
  if (!visited) {
    if (visited.error() == FileError::not_found) return;
    return log::warn("skills of {} are left out: {}", (place.first / place.second).string(),
                     to_string(visited.error()));
  }
  std::ranges::sort(names);
  for (const auto& name : names) take(skills, *root, place, name);
}

/// Returns the names in the `skills` of an agent's definition; nullopt if it has no such list.
std::optional<std::vector<std::string>> chosen(const Extension& agent) {
  const auto* list = array_member(agent.definition.members(), "skills");
  return list ? std::optional(strings_of(*list)) : std::nullopt;
}

void list_resources(const Directory& folder, const std::string& path, int depth, std::vector<std::string>& files) {
  if (depth > max_resource_depth) return;
  std::vector<std::string> directories;
  const auto visited = folder.visit(path.empty() ? "." : path, [&](const DirectoryEntry& entry) {
    const auto here = path.empty() ? entry.name : path + "/" + entry.name;
    if (entry.name.starts_with('.') || entry.name == "node_modules" || is_private_path(here)) return true;
    if (entry.type == FileType::directory) directories.push_back(here);
    if (entry.type == FileType::regular) files.push_back(here);
    return files.size() < max_resources;
  });
  if (!visited) return;
  for (const auto& directory : directories) {
    if (files.size() < max_resources) list_resources(folder, directory, depth + 1, files);
  }
}

Directory open_folder(const Skill& skill) {
  const auto root = Directory::open(skill.root);
  auto folder = root ? root->directory(skill.folder) : FileResult<Directory>(root.error());
  if (!folder) throw NotFound(fmt::format("there is no skill {}", skill.name));
  return *std::move(folder);
}

std::string read_file(const Skill& skill, const std::string& file) {
  if (is_private_path(file)) throw NotFound(fmt::format("{}: no agent may read it", file));
  const auto text = open_folder(skill).read(file, max_file_length);
  if (!text) throw NotFound(fmt::format("{}: {}", file, to_string(text.error())));
  if (text->find('\0') != text->npos) throw NotFound(fmt::format("{}: not a text file", file));
  return to_utf8(*text);
}

std::string read_body(const Skill& skill) {
  const auto folder = open_folder(skill);
  std::string why = "it cannot be read";
  const auto text = folder.read(skill.file_name, max_file_length);
  const auto read = text ? read_skill_text(to_utf8(*text), why) : std::nullopt;
  if (!read) throw NotFound(fmt::format("{}: {}", skill.file_name, why));
  std::vector<std::string> files;
  list_resources(folder, "", 1, files);
  std::erase(files, skill.file_name);
  std::ranges::sort(files);
  auto shown = fmt::format("{}\n\nSkill directory: {}\n", read->body, skill.directory().string());
  if (!files.empty()) shown += "Its other files, to be read with ReadSkill and `file`:\n";
  for (const auto& file : files) shown += fmt::format("- {}\n", file);
  return shown;
}

}  // namespace

Skills::Skills(BlockingPool& blocking, fs::path home, fs::path data_directory)
    : blocking_(blocking), home_(std::move(home)), data_directory_(std::move(data_directory)) {}

Skills::Folders Skills::folders(const std::string& agent, const std::optional<fs::path>& project) const {
  Folders folders;
  if (project) folders.emplace_back(*project, ".agents/skills");
  folders.emplace_back(data_directory_, fmt::format("agents/{}/skills", agent));
  folders.emplace_back(data_directory_, "skills");
  folders.emplace_back(home_, ".agents/skills");
  return folders;
}

Task<std::vector<Skill>> Skills::found_in(Folders folders) {
  auto found = co_await blocking_.run([folders = std::move(folders)] {
    SkillsByName skills;
    for (const auto& place : folders) add_folder(skills, place);
    return skills;
  });
  std::vector<Skill> skills;
  for (auto& [name, skill] : found) skills.push_back(std::move(skill));
  co_return skills;
}

Task<std::vector<Skill>> Skills::available(ExtensionPointer agent) {
  co_return co_await found_in(folders(agent->name, std::nullopt));
}

Task<std::vector<Skill>> Skills::of(ExtensionPointer agent, std::optional<fs::path> project) {
  const auto names = chosen(*agent);
  if (names && names->empty()) co_return std::vector<Skill>();
  auto skills = co_await found_in(folders(agent->name, project));
  if (names) std::erase_if(skills, [&](const Skill& skill) { return !contains(*names, skill.name); });
  co_return skills;
}

Task<std::string> Skills::read(Skill skill, std::optional<std::string> file) {
  co_return co_await blocking_.run(
      [skill = std::move(skill), file = std::move(file)] { return file ? read_file(skill, *file) : read_body(skill); });
}

}  // namespace agw
