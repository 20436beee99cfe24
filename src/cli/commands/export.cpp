// `agw export`: one thread on standard output, or a folder with everything. The folder contains each thread as Markdown
// and as JSON Lines, the files of messages, each extension as a file for `agw ext add`, and the files that agents read.
// Extensions refer to each other by name, because ids differ between gateways. docs/contract/transfer.md describes the
// format.

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/error.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "base/json/yaml.hpp"
#include "base/printable.hpp"
#include "cli/client/client.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/command_table.hpp"
#include "cli/list.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/table.hpp"
#include "cli/transfer/export_text.hpp"
#include "features/extensions/extension_text.hpp"
#include "features/secrets/service.hpp"
#include "io/files/atomic_file.hpp"
#include "io/files/descriptor.hpp"

namespace agw::cli {

namespace {

namespace fs = std::filesystem;

constexpr int export_format = 1;
constexpr std::size_t page_of_threads = 1000;
constexpr std::size_t min_secret_length = 4;

struct ExportOptions {
  std::optional<std::string> folder;
  std::optional<std::string> thread;
  bool html = false;
  ListOptions list;
};

/// A file that only its owner can read, because conversations are private.
class TextFile {
public:
  explicit TextFile(const fs::path& path) : path_(path) {
    // Created with its final mode while it is empty.
    const int made = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (made < 0) throw_errno(path_.string() + ": cannot be created");
    ::close(made);
    file_.open(path, std::ios::binary | std::ios::app);
  }
  void write(std::string_view text) {
    if (!file_.write(text.data(), static_cast<std::streamsize>(text.size())))
      throw_errno(path_.string() + ": cannot be written");
  }
  void close() {
    file_.close();
    if (!file_) throw_errno(path_.string() + ": cannot be written");
  }

private:
  fs::path path_;
  std::ofstream file_;
};

/// Formats a record as a line of JSON Lines.
std::string line_of(std::string_view record, const json::object& members) {
  json::object all{{"record", record}};
  for (const auto& [name, value] : members) all.insert_or_assign(name, value);
  return to_json(all) + '\n';
}

/// The names of extensions by their ids, which are specific to a gateway.
using Names = std::map<std::string, std::string>;

Names names_of(const json::array& extensions) {
  Names names;
  for (const auto& each : extensions)
    names.emplace(string_or_empty(each.as_object(), "id"), string_or_empty(each.as_object(), "name"));
  return names;
}

Task<json::array> extensions_of(const Client& client) {
  co_return std::move((co_await client.get("/extensions")).as_array());
}

std::string thread_line(json::object thread, const Names& names) {
  const auto agent = names.find(string_or_empty(thread, "agent_id"));
  if (agent != names.end()) thread["agent"] = agent->second;
  const auto job = names.find(string_or_empty(thread, "job_id"));
  if (job != names.end()) thread["job"] = job->second;
  return line_of("thread", thread);
}

/// Replaces ids of other extensions in a definition by names.
json::object portable(json::object definition, const Names& names) {
  for (const auto* member : {"agent_id", "owner_agent_id", "integration"}) {
    const auto found = names.find(string_or_empty(definition, member));
    if (found != names.end()) definition[member] = found->second;
  }
  return definition;
}

/// Copies the regular files in a folder and below it, except for top-level entries that `leaves_out` accepts.
void copy_below(const fs::path& source, const fs::path& target,
                const std::function<bool(const std::string& name)>& leaves_out) {
  if (!fs::is_directory(source)) return;
  for (auto entry = fs::recursive_directory_iterator(source, fs::directory_options::skip_permission_denied);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const auto name = entry->path().filename().string();
    const auto path = target / entry->path().lexically_relative(source);
    const bool is_left = entry->is_symlink() || (entry.depth() == 0 && leaves_out(name));
    if (is_left) entry.disable_recursion_pending();
    if (is_left || !entry->is_regular_file() || is_temporary_name(name)) continue;
    fs::create_directories(path.parent_path());
    fs::copy_file(entry->path(), path);
  }
}

/// The secret values that a page must not show.
std::vector<std::string> secret_values(const FoundGateway& gateway) {
  const Secrets secrets(gateway.data_directory);
  std::vector<std::string> values;
  for (const auto& name : secrets.names()) {
    auto value = secrets.find(name);
    if (value && value->size() >= min_secret_length) values.push_back(*std::move(value));
  }
  if (gateway.token) values.push_back(*gateway.token);
  return values;
}

json::object page_of(const json::value& response, const std::string& id) {
  if (!response.is_object() || !response.get_object().contains("turns"))
    throw std::runtime_error("the gateway's response has no turns of " + id);
  return response.get_object();
}

/// Calls `begin` with the thread and `each` with its turns, oldest first, one page at a time.
template <class Begin, class Each>
Task<> read_thread(const Client& client, std::string id, Begin begin, Each each) {
  std::optional<std::string> after;
  bool begun = false;
  do {
    const auto page = page_of(co_await client.get(path({"threads", id, "transcript"}, {{"after", after}})), id);
    if (!begun) begin(object_or_empty(page, "thread"));
    begun = true;
    for (const auto& turn : page.at("turns").as_array()) each(turn.as_object());
    const auto next = string_member(page, "next");
    after = next ? std::optional<std::string>(*next) : std::nullopt;
  } while (after);
}

/// Prints one thread to standard output.
Task<int> print_thread(const FoundGateway& gateway, const ExportOptions& options) {
  const Client client(gateway);
  const auto secrets = options.html ? secret_values(gateway) : std::vector<std::string>();
  const bool json = options.list.json;
  const auto names = names_of(co_await extensions_of(client));
  const auto begin = [&](const json::object& thread) {
    std::cout << (json           ? thread_line(thread, names)
                  : options.html ? html_head(thread, secrets)
                                 : printable(markdown_head(thread)));
  };
  const auto no_file = [](const std::string&) { return std::nullopt; };
  const auto each = [&](const json::object& turn) {
    std::cout << (json           ? line_of("turn", turn)
                  : options.html ? html_turn(turn, secrets)
                                 : printable(markdown_turn(turn, no_file)));
  };
  co_await read_thread(client, *options.thread, begin, each);
  if (options.html && !json) std::cout << html_end();
  co_return 0;
}

/// Writes a folder with everything.
class Export {
public:
  Export(const FoundGateway& gateway, const ExportOptions& options, fs::path folder)
      : gateway_(gateway), client_(gateway), options_(options), folder_(std::move(folder)) {
    if (fs::exists(folder_) && !(fs::is_directory(folder_) && fs::is_empty(folder_)))
      throw std::runtime_error(folder_.string() + ": is not empty: name a new folder");
    fs::create_directories(folder_ / "threads");
    fs::permissions(folder_, fs::perms::owner_all);
    if (options_.html) secrets_ = secret_values(gateway_);
    lines_ = std::make_unique<TextFile>(folder_ / "threads.jsonl");
  }

  Task<int> write() {
    lines_->write(line_of("export", {{"format", export_format}, {"program", "agent-gateway"}}));
    const auto extensions = co_await extensions_of(client_);
    names_ = names_of(extensions);
    if (!options_.thread) co_await write_projects();
    co_await write_threads();
    lines_->close();
    if (!options_.thread) write_extensions(extensions);
    if (!options_.thread) copy_given_to_all();
    std::cerr << fmt::format("{} with {}, {}: {}\n", count_text(threads_, "thread", "threads"),
                             count_text(turns_, "turn", "turns"), count_text(extensions_, "extension", "extensions"),
                             folder_.string());
    co_return 0;
  }

private:
  Task<> write_projects() {
    const auto projects = co_await client_.get("/projects");
    for (const auto& project : projects.as_array()) lines_->write(line_of("project", project.as_object()));
  }

  Task<> write_threads() {
    if (options_.thread) {
      co_await write_thread(*options_.thread);
      co_return;
    }
    const auto ids = co_await thread_ids();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      progress_.show("threads", i, ids.size());
      co_await write_thread(ids[i]);
    }
  }

  /// The ids of all threads. The list is ordered by the latest change, so a thread that changes between two pages is
  /// then at its front: it is read again until it has nothing new.
  Task<std::vector<std::string>> thread_ids() {
    std::vector<std::string> ids;
    std::set<std::string> known;
    for (bool is_first = true;; is_first = false) {
      const auto before = ids.size();
      co_await list_threads(ids, known, is_first);
      if (ids.size() == before) co_return ids;
    }
  }

  /// Adds the ids that are not known, up to the end of the list or to a page without any.
  Task<> list_threads(std::vector<std::string>& ids, std::set<std::string>& known, bool to_the_end) {
    std::optional<std::string> before;
    for (bool more = true; more;) {
      const auto listed = co_await client_.get(
          path({"threads"}, {{"archived", "true"}, {"limit", std::to_string(page_of_threads)}, {"before", before}}));
      const auto count = ids.size();
      for (const auto& thread : listed.as_array()) {
        before = string_or_empty(thread.as_object(), "id");
        if (known.insert(*before).second) ids.push_back(*before);
      }
      more = listed.as_array().size() == page_of_threads && (to_the_end || ids.size() > count);
    }
  }

  Task<> write_thread(std::string id) {
    TextFile markdown(folder_ / "threads" / (id + ".md"));
    std::optional<TextFile> html;
    if (options_.html) html.emplace(folder_ / "threads" / (id + ".html"));
    const auto begin = [&](const json::object& thread) {
      lines_->write(thread_line(thread, names_));
      markdown.write(markdown_head(thread));
      if (html) html->write(html_head(thread, secrets_));
    };
    const auto link = [&](const std::string& file) {
      const bool is_there = is_uuid(file) && fs::is_regular_file(folder_ / "files" / file);
      return is_there ? std::optional("../files/" + file) : std::nullopt;
    };
    const auto each = [&](const json::object& turn) {
      ++turns_;
      lines_->write(line_of("turn", turn));
      copy_files(turn);
      markdown.write(markdown_turn(turn, link));
      if (html) html->write(html_turn(turn, secrets_));
    };
    co_await read_thread(client_, id, begin, each);
    if (html) html->write(html_end());
    if (html) html->close();
    markdown.close();
    ++threads_;
  }

  /// Copies the files of a message, named by their ids. A file that no longer exists appears only in its turn.
  void copy_files(const json::object& turn) {
    const auto metadata = object_or_empty(turn, "metadata");
    for (const auto member : file_members) {
      const auto* files = array_member(metadata, member);
      for (const auto& file : files ? *files : json::array()) {
        if (file.is_object()) copy_file(string_or_empty(file.get_object(), "id"));
      }
    }
  }

  void copy_file(const std::string& id) const {
    const auto source = gateway_.data_directory / "attachments" / id;
    if (!is_uuid(id) || !fs::is_regular_file(source)) return;
    fs::create_directories(folder_ / "files");
    fs::copy_file(source, folder_ / "files" / id, fs::copy_options::skip_existing);
  }

  /// Leaves out built-in extensions, which every gateway has.
  void write_extensions(const json::array& extensions) {
    fs::create_directories(folder_ / "extensions");
    for (std::size_t i = 0; i < extensions.size(); ++i) {
      progress_.show("extensions", i, extensions.size());
      const auto& record = extensions[i].as_object();
      if (string_or_empty(record, "source") == "built-in") {
        copy_given_to(record);
      } else {
        write_extension(record);
        ++extensions_;
      }
    }
  }

  void copy_given_to_all() const {
    copy_given(gateway_.data_directory, folder_ / "data");
    fs::remove(folder_ / "data" / "knowledge" / "log.md");  // specific to this gateway
  }

  /// Copies files that people provided for a built-in agent.
  void copy_given_to(const json::object& record) const {
    if (string_or_empty(record, "type") != "agent") return;
    const auto place = directory_of(ExtensionType::agent, string_or_empty(record, "name"));
    copy_given(gateway_.data_directory / place, folder_ / "data" / place);
  }

  static void copy_given(const fs::path& source, const fs::path& target) {
    copy_below(source, target, [](const std::string& name) { return !contains(given_to_agents, name); });
  }

  void write_extension(const json::object& record) {
    json::object members;
    for (const auto* name : {"type", "name", "description", "enabled", "trigger_def"}) {
      if (const auto* value = record.if_contains(name); value && !value->is_null()) members[name] = *value;
    }
    members["definition"] = portable(object_or_empty(record, "definition"), names_);
    const auto name = string_or_empty(record, "name");
    const auto type = from_text<ExtensionType>(string_or_empty(record, "type"));
    const auto folder = folder_ / "extensions" / name;
    if (!type || !is_file_backed(*type)) {
      TextFile file(folder_ / "extensions" / (name + ".yaml"));
      file.write(json_to_yaml(members));
      return file.close();
    }
    fs::create_directories(folder);
    const auto source = gateway_.data_directory / directory_of(*type, name);
    const auto record_name = string_or_empty(record, "type") + ".yaml";
    TextFile file(folder / record_name);
    file.write(json_to_yaml(members));
    file.close();
    // Other files of the extension: souls, knowledge, prompts, skills.
    const bool has_prompt = type == ExtensionType::job && members["definition"].get_object().contains("prompt");
    copy_below(source, folder, [&](const std::string& other) {
      return other == record_name || other == "workspace" || other == "proposals" ||
             (has_prompt && other == "prompt.md");
    });
  }

  const FoundGateway& gateway_;
  Client client_;
  const ExportOptions& options_;
  fs::path folder_;
  Progress progress_;
  std::unique_ptr<TextFile> lines_;
  std::vector<std::string> secrets_;
  Names names_;
  std::uint64_t threads_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t extensions_ = 0;
};

int export_all(const ExportOptions& options) {
  if (options.html && options.list.json)
    throw StartError(ExitStatus::usage, "--html and --json exclude each other: choose one");
  Loop loop;
  const auto gateway = find_gateway(options.list.data_dir);
  if (options.thread && !options.folder) return run(loop, print_thread(gateway, options));
  Export everything(gateway, options, options.folder.value_or("agw-export"));
  return run(loop, everything.write());
}

}  // namespace

Action export_command(Arguments& arguments) {
  auto options = std::make_shared<ExportOptions>();
  arguments.word("folder", options->folder, "A new folder (default: agw-export; with --thread, standard output)");
  arguments.option("--thread", options->thread, "Only this thread, by id, as Markdown");
  arguments.flag("--html", options->html, "Also as web pages that show neither inputs of tools nor secrets");
  declare(arguments, options->list, "With --thread and no folder: print JSON Lines instead of Markdown");
  return [options] { return export_all(*options); };
}

}  // namespace agw::cli
