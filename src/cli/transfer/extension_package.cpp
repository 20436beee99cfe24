#include "cli/transfer/extension_package.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"
#include "cli/output/line_input.hpp"
#include "cli/transfer/source_files.hpp"
#include "features/extensions/extension_text.hpp"
#include "io/files/directory.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_package_files = 10'000;
constexpr std::size_t max_file_size = 16 << 20;
constexpr std::size_t max_folder_size = 64 << 20;

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw std::runtime_error(fmt::format("{}: {}", path.string(), why));
}

template <class T>
T require(FileResult<T> result, const fs::path& path) {
  if (!result) refuse(path, to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

Directory open_folder(const fs::path& folder) { return require(Directory::open(folder, Symlinks::refuse), folder); }

std::optional<ExtensionType> type_named(std::string_view name) { return from_text<ExtensionType>(name); }

bool is_document(const fs::path& name) {
  const auto extension = name.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

json::value read_json(const std::string& text, const fs::path& path) {
  auto value = parse_json(text);
  if (!value) refuse(path, "is not JSON");
  return std::move(*value);
}

json::value read_yaml(const std::string& text, const fs::path& path) {
  try {
    return yaml_to_json(text);
  } catch (const YamlError& error) {
    refuse(path, error.what());
  }
}

json::object read_members(const std::string& text, const fs::path& path) {
  const auto value = path.extension() == ".json" ? read_json(text, path) : read_yaml(text, path);
  if (!value.is_object()) refuse(path, "must be a map of members, such as `description: …`");
  return value.get_object();
}

json::object body_of(json::object document, const fs::path& path) {
  try {
    return extension_body(std::move(document), path.stem().string());
  } catch (const std::runtime_error& error) {
    refuse(path, error.what());
  }
}

/// The name of the single file in a folder that is the extension's record.
std::string record_in(const Directory& directory, const fs::path& folder) {
  std::string found;
  for (const auto& entry : require(directory.list(".", max_package_files), folder)) {
    const fs::path name = entry.name;
    if (!is_document(name) || (!type_named(name.stem().string()) && name.stem() != "extension")) continue;
    if (!found.empty()) refuse(folder, fmt::format("contains both {} and {}", found, entry.name));
    found = entry.name;
  }
  if (found.empty()) refuse(folder, "contains no agent.yaml, job.yaml or other file named for a type of extension");
  return found;
}

void list_files(const Directory& directory, const fs::path& folder, const fs::path& beneath,
                std::vector<std::string>& files) {
  for (const auto& entry :
       require(directory.list(beneath.empty() ? "." : beneath.string(), max_package_files), folder)) {
    const auto path = beneath / entry.name;
    if (entry.type == FileType::directory) {
      list_files(directory, folder, path, files);
    } else if (entry.type == FileType::regular) {
      files.push_back(path.string());
    } else {
      refuse(folder / path, "is neither a file nor a folder; symlinks are not followed");
    }
    if (files.size() > max_package_files) refuse(folder, fmt::format("contains more than {} files", max_package_files));
  }
}

/// Uses a job's `prompt.md` as its prompt, as in the gateway's own directories.
void take_prompt(const Directory& directory, json::object& body, std::vector<std::string>& files) {
  if (string_member(body, "type") != "job" || !body["definition"].is_object()) return;
  auto& definition = body["definition"].get_object();
  const auto prompt = std::find(files.begin(), files.end(), "prompt.md");
  if (prompt == files.end() || definition.contains("prompt") || definition.contains("prompt_file")) return;
  definition["prompt"] = require(directory.read("prompt.md", max_file_size), "prompt.md");
  files.erase(prompt);
}

/// Resolves an app's path relative to its folder, in which it runs.
void take_app_path(const fs::path& folder, json::object& body) {
  if (string_member(body, "type") != "app" || !body["definition"].is_object()) return;
  auto& definition = body["definition"].get_object();
  const fs::path path(string_member(definition, "path").value_or(""));
  definition["path"] = path.empty() ? fs::canonical(folder).string() : fs::weakly_canonical(folder / path).string();
}

ExtensionPackage read_folder(const fs::path& folder) {
  const auto directory = open_folder(folder);
  const auto record = record_in(directory, folder);
  ExtensionPackage package{.body = {}, .folder = folder, .files = {}};
  auto document = read_members(require(directory.read(record, max_yaml_size), folder / record), folder / record);
  if (!document.contains("name")) document["name"] = fs::canonical(folder).filename().string();
  package.body = body_of(std::move(document), folder / record);
  const auto type = type_named(string_member(package.body, "type").value_or(""));
  if (type && is_file_backed(*type)) {
    list_files(directory, folder, {}, package.files);
    std::erase(package.files, record);
    take_prompt(directory, package.body, package.files);
  }
  take_app_path(folder, package.body);
  return package;
}

std::string read_file(const fs::path& path) {
  if (path == "-") return read_standard_input(max_yaml_size);
  const auto directory = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  const auto opened = require(Directory::open(directory), directory);
  return require(opened.read(path.filename().string(), max_yaml_size), path);
}

}  // namespace

json::object extension_body(json::object document, std::string_view stem) {
  if (const auto* definition = document.if_contains("definition"); definition && definition->is_object()) {
    if (auto* trigger = document.if_contains("trigger"); trigger && !document.contains("trigger_def")) {
      document["trigger_def"] = json::value(*trigger);
    }
    document.erase("trigger");
    return document;
  }
  auto type = type_named(stem);
  const auto said = string_member(document, "type");
  if (!type) type = type_named(said.value_or(""));
  if (!type) throw std::runtime_error("`type` must be one of agent, command, job …");
  // A file named after its type may contain a definition with a member `type`, as an app's does.
  if (said && type_named(*said) == type) document.erase("type");
  // By the API's name, a trigger would become a member of the definition, and start no job.
  if (const auto* trigger = document.if_contains("trigger_def"); trigger && !document.contains("trigger")) {
    document["trigger"] = json::value(*trigger);
    document.erase("trigger_def");
  }
  const auto name = string_or_empty(document, "name");
  return new_body(std::move(document), *type, name);
}

ExtensionPackage read_extension_package(const fs::path& path) {
  if (fs::is_directory(path)) return read_folder(path);
  return {.body = body_of(read_members(read_file(path), path), path), .folder = {}, .files = {}};
}

void for_each_file(const ExtensionPackage& package, const std::function<void(const PackageFile& file)>& each) {
  if (package.files.empty()) return;
  const auto folder = open_folder(package.folder);
  std::size_t total = 0;
  for (const auto& path : package.files) {
    const auto status = require(folder.status(path), package.folder / path);
    PackageFile file{path, require(folder.read(path, max_file_size), package.folder / path), mode_like(status.mode)};
    total += file.content.size();
    if (total > max_folder_size) refuse(package.folder, fmt::format("is larger than {} MiB", max_folder_size >> 20));
    each(file);
  }
}

void copy_files(const ExtensionPackage& package, const fs::path& target) {
  if (package.files.empty()) return;
  fs::create_directories(target);
  const auto folder = open_folder(target);
  for_each_file(package, [&](const PackageFile& file) {
    const auto parent = fs::path(file.path).parent_path();
    if (!parent.empty()) require(folder.make_directories(parent.string()), target / parent);
    require(folder.write(file.path, file.content, file.mode), target / file.path);
  });
}

}  // namespace agw::cli
