// An export by this program: threads.jsonl, one record per line, a thread before its turns; next to it the files of
// messages, extensions, and in data/ the files that people provided for all agents and for built-in ones.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "cli/transfer/byte_source.hpp"
#include "cli/transfer/export_text.hpp"
#include "cli/transfer/extension_package.hpp"
#include "cli/transfer/readers.hpp"
#include "cli/transfer/source_values.hpp"
#include "features/extensions/extension_text.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t newest_format = 1;

/// As many tasks of the list as a gateway accepts.
std::optional<std::vector<ThreadTask>> own_tasks(Importer& importer, const json::object& from) {
  const auto* listed = array_member(from, "tasks");
  if (!listed) return std::nullopt;
  std::vector<ThreadTask> tasks;
  std::size_t bytes = 0;
  for (const auto& each : *listed) {
    if (!each.is_object()) continue;
    auto text = string_or_empty(each.get_object(), "text");
    if (tasks.size() == max_tasks || bytes + text.size() > max_task_bytes) continue;
    bytes += text.size();
    const auto status = from_text<TaskStatus>(string_or_empty(each.get_object(), "status"));
    tasks.push_back({std::move(text), status.value_or(TaskStatus::pending)});
  }
  if (const auto left = listed->size() - tasks.size(); left > 0)
    importer.leave(fmt::format("{} tasks of thread {}", left, string_or_empty(from, "id")),
                   "a list has at most 100 tasks, with 16 KiB of text");
  return tasks;
}

ImportedThread own_thread(Importer& importer, const json::object& from) {
  ImportedThread thread{.key = string_or_empty(from, "id"), .turns = {}};
  // The name, which is the same in every gateway; for a deleted agent its id.
  auto agent = string_member(from, "agent");
  if (!agent) agent = string_member(from, "agent_id");
  if (agent) thread.agent_id = std::string(*agent);
  if (const auto job = string_member(from, "job")) thread.job_id = std::string(*job);
  if (const auto title = string_member(from, "title")) thread.title = std::string(*title);
  thread.mode = from_text<ThreadMode>(string_or_empty(from, "mode"));
  thread.archived = is_true(from, "archived");
  thread.pinned = is_true(from, "pinned");
  thread.created_at = time_in(from, "created_at");
  thread.updated_at = time_in(from, "updated_at");
  thread.tasks = own_tasks(importer, from);
  return thread;
}

std::optional<ImportedTurn> own_turn(json::object& from) {
  const auto role = from_text<Role>(string_or_empty(from, "role"));
  if (!role) return std::nullopt;
  ImportedTurn turn{.key = string_or_empty(from, "id"),
                    .role = *role,
                    .content = string_or_empty(from, "content"),
                    .metadata = {},
                    .created_at = time_in(from, "created_at"),
                    .in_reply_to = {}};
  if (auto* metadata = from.if_contains("metadata"); metadata && metadata->is_object())
    turn.metadata = std::move(metadata->get_object());
  if (const auto reply = string_member(from, "in_reply_to")) turn.in_reply_to = std::string(*reply);
  return turn;
}

/// Reads the records of an export, line by line.
class Records {
public:
  Records(Importer& importer, fs::path files) : importer_(importer), files_(std::move(files)) {}

  void take(json::object& record) {
    const auto kind = string_or_empty(record, "record");
    if (kind == "export") return check(record);
    if (kind == "project") {
      take_project(record);
    } else if (kind == "thread") {
      take_thread(record);
    } else if (kind == "turn") {
      take_turn(record);
    } else {
      importer_.leave("a record `" + kind + "`", "is not known to this version");
    }
  }

private:
  static void check(const json::object& record) {
    const auto* format = record.if_contains("format");
    if (!format || !format->is_int64() || format->get_int64() > newest_format)
      throw std::runtime_error("the export is of a newer version: update the gateway first");
  }

  void take_project(const json::object& record) {
    const fs::path directory(string_or_empty(record, "path"));
    projects_[string_or_empty(record, "id")] = directory;
    const auto name = string_or_empty(record, "name");
    importer_.add_project(directory, name.empty() ? directory.filename().string() : name);
  }

  void take_thread(const json::object& record) {
    thread_ = string_or_empty(record, "id");
    importer_.show_progress("threads", ++threads_, 0);
    const auto project = projects_.find(string_or_empty(record, "project_id"));
    importer_.begin_thread(own_thread(importer_, record),
                           project == projects_.end() ? std::nullopt : std::optional(project->second));
  }

  void take_turn(json::object& record) {
    const auto id = string_or_empty(record, "id");
    auto turn = own_turn(record);
    if (thread_.empty() || string_or_empty(record, "thread_id") != thread_)
      importer_.leave("turn " + id, "does not follow its thread");
    else if (!turn)
      importer_.leave("turn " + id, "has an unknown role");
    else
      take_whole(*std::move(turn));
  }

  void take_whole(ImportedTurn turn) {
    for (const auto member : file_members) {
      const auto* files = turn.metadata ? array_member(*turn.metadata, member) : nullptr;
      for (const auto& each : files ? *files : json::array())
        if (each.is_object()) take_file(each.get_object());
    }
    importer_.add_turn(std::move(turn));
  }

  void take_file(const json::object& attachment) {
    const auto id = string_or_empty(attachment, "id");
    const auto name = string_or_empty(attachment, "name");
    if (!is_uuid(id) || !fs::exists(files_ / id)) return importer_.leave("file " + name, "the export lacks it");
    if (auto why = why_unread(files_ / id, {files_}); !why.empty()) return importer_.leave("file " + name, why);
    importer_.add_attachment(id, {name, string_or_empty(attachment, "mime"), content_of(bytes_of_file(files_ / id))});
  }

  Importer& importer_;
  fs::path files_;
  std::map<std::string, fs::path> projects_;
  std::string thread_;
  std::uint64_t threads_ = 0;
};

std::optional<ExtensionPackage> package_at(Importer& importer, const fs::path& path) try {
  return read_extension_package(path);
} catch (const std::runtime_error& error) {
  importer.leave("extension " + path.stem().string(), error.what());
  return std::nullopt;
}

/// Files that an extension enabled here would follow immediately are only listed.
void take_files(Importer& importer, const ExtensionPackage& package, bool is_enabled) try {
  const auto type = from_text<ExtensionType>(string_or_empty(package.body, "type"));
  const fs::path place = directory_of(type.value(), string_or_empty(package.body, "name"));
  for_each_file(package, [&](const PackageFile& file) {
    const auto origin = package.folder / file.path;
    if (is_enabled && !importer.has_file(place / file.path))
      importer.leave(origin.string(), "belongs to what is enabled: copy it into the data directory if you want that");
    else
      importer.add_file("files of extensions", place / file.path, file.content, origin.string(), file.mode);
  });
} catch (const std::system_error&) {
  throw;  // a problem of the gateway's disk
} catch (const std::runtime_error& error) {
  importer.leave("files of extension " + package.folder.filename().string(), error.what());
}

/// Adds agents first: jobs without their agents are refused.
void take_extensions(Importer& importer, const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths, {}, [](const fs::path& path) { return std::pair(!fs::exists(path / "agent.yaml"), path); });
  for (std::size_t i = 0; i < paths.size(); ++i) {
    importer.show_progress("extensions", i, paths.size());
    const auto package = package_at(importer, paths[i]);
    if (!package) continue;
    const auto here = importer.add_own_extension(package->body);
    if (here != OwnExtension::left_out) take_files(importer, *package, here == OwnExtension::enabled);
  }
}

/// Whether a file is one that people provide for agents, by its path in the data directory: for all agents, or for one.
bool is_given(const fs::path& path) {
  auto part = path.begin();
  if (*part == "agents" && std::distance(part, path.end()) > 2) std::advance(part, 2);
  const bool is_in_folder = std::next(part) != path.end();
  const bool names_file = part->has_extension();
  return is_in_folder != names_file && contains(given_to_agents, part->string());
}

bool instructs_agents(const fs::path& path) {
  return path.filename() == "soul.md" || path.filename() == "notes.md" || contains(path, "skills");
}

/// Imports the files in data/. Nothing that instructs agents takes effect automatically.
void take_given(Importer& importer, const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory() || entry.is_symlink()) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& file : files) {
    const auto path = file.lexically_relative(folder);
    if (auto why = why_unread(file, {folder}); !why.empty())
      importer.leave(file.string(), why);
    else if (!is_given(path))
      importer.leave(file.string(), "is not known to this version");
    else if (instructs_agents(path) && !importer.has_file(path))
      importer.leave(file.string(), "instructs agents: copy it into the data directory if you want that");
    else
      importer.add_file("files of agents", path, content_of(bytes_of_file(file)), file.string());
  }
}

}  // namespace

void read_own_export(Importer& importer, const fs::path& path) {
  const auto file = fs::is_directory(path) ? path / "threads.jsonl" : path;
  if (!fs::is_regular_file(file)) throw std::runtime_error(file.string() + ": there is no such file");
  // Next to a single file, folders of these names can be anything.
  if (file != path) {
    take_extensions(importer, path / "extensions");
    take_given(importer, path / "data");
  }
  Records records(importer, file.parent_path() / "files");
  for_each_line(importer, file, [&](json::object record) {
    records.take(record);
    return true;
  });
}

}  // namespace agw::cli
