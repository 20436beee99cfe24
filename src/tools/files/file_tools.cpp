// The tools Read, Glob, Grep, Write, Edit and Bash. Each handles a path in the same steps: resolve it, authorize it
// (`authorize`), open it, authorize the file that was actually opened, and only then access it. A path is never
// trusted, because a command of an agent can redirect it between two steps.
//
// Before a write, the recorder stores the former content (`write_to`), so that every change can be undone.

#include "tools/files/file_tools.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "base/text/unified_diff.hpp"
#include "base/text/utf8.hpp"
#include "tools/files/file_text.hpp"
#include "tools/files/replace_permit.hpp"
#include "tools/files/replacement.hpp"
#include "tools/files/write_target.hpp"
#include "tools/input.hpp"
#include "tools/search/glob.hpp"
#include "tools/search/grep.hpp"

namespace agw {

namespace {

constexpr std::size_t max_paths = 1000;
constexpr std::size_t max_text_of_all = 100'000;
constexpr std::int64_t max_lines = 5000;
/// How long the thread with the new content on disk waits for the record of the change, which usually needs less. No
/// longer, because the pool has few threads.
constexpr std::chrono::microseconds patience_for_record{1000};

bool is_allowed(const Permission& permission) { return permission.verdict == Permission::Verdict::allowed; }

/// Opens the file that a call names, or returns why the agent may not access it.
Task<OpenedPath> opened(BlockingPool& blocking, const ToolCall& call, std::filesystem::path path) {
  co_return co_await blocking.run([path = std::move(path), roots = call.run.roots] {
    if (!roots.project) make_workspace(roots);
    return locate(path, roots);
  });
}

std::filesystem::path named_path(const ToolCall& call) {
  return absolute_path(text_input(call.input, "path", "."), call.run.roots);
}

/// If the person's editor has the project file open, returns the editor's text.
Task<std::optional<std::string>> text_in_editor(const ToolCall& call, const OpenedPath& file) {
  const bool is_text_of_project = file.place == FilePlace::project && !file.problem && file.type == FileType::regular;
  if (!call.buffers || !is_text_of_project) co_return std::nullopt;
  co_return co_await call.buffers->read(file.path.string(), call.stop);
}

Task<ToolOutcome> read(BlockingPool& blocking, const ToolCall& call) {
  const auto file = co_await opened(blocking, call, named_path(call));
  const auto permission = call.authorize(target_of(file));
  if (!is_allowed(permission)) co_return refusal(permission);
  const LineRange range{.first = number_input(call.input, "offset", 1, 1, std::int64_t{1} << 40),
                        .count = number_input(call.input, "limit", 2000, 1, 2000)};
  if (auto text = co_await text_in_editor(call, file)) {
    co_return ToolOutcome{
        co_await blocking.run([text = std::move(*text), range] { return numbered_lines(text, range); })};
  }
  const CrossThreadStop stop(call.stop);
  co_return ToolOutcome{co_await blocking.run([file, range, roots = call.run.roots, stopped = stop.flag()] {
    return file.type == FileType::directory ? listed_directory(file, roots) : numbered_lines(file, range, stopped);
  })};
}

std::string shown_paths(const GlobFound& found, const FileRoots& roots) {
  if (found.paths.empty()) return "[nothing matches]\n";
  std::string text;
  for (const auto& path : found.paths) text += to_utf8(shown_path(path, roots)) + "\n";
  if (found.more) text += fmt::format("[more than {} match: these are the newest]\n", max_paths);
  return text;
}

Task<ToolOutcome> glob(BlockingPool& blocking, const ToolCall& call) {
  const auto& roots = call.run.roots;
  const auto start = start_of_glob(named_path(call), text_input(call.input, "pattern"), roots);
  const auto directory = co_await opened(blocking, call, start.directory);
  const auto permission = call.authorize(target_of(directory));
  if (!is_allowed(permission)) co_return refusal(permission);
  const CrossThreadStop stop(call.stop);
  auto found = co_await blocking.run([directory, start, roots, stopped = stop.flag()] {
    return find_matching(directory, start.pattern, max_paths, roots, stopped);
  });
  std::erase_if(found.paths, [&](const auto& path) {
    return !is_allowed(call.authorize({.place = place_of(path, roots), .path = path.string()}));
  });
  co_return ToolOutcome{shown_paths(found, roots)};
}

Task<GrepFound> search(const FileToolsDependencies& needs, const ToolCall& call, const OpenedPath& start,
                       const GrepQuery& query) {
  const CrossThreadStop stop(call.stop);
  std::optional<RulesAbove> rules;
  if (needs.ripgrep && start.type == FileType::directory && ripgrep_can(query)) {
    rules = co_await needs.blocking.run(
        [start, roots = call.run.roots, stopped = stop.flag()] { return rules_for_ripgrep(start, roots, stopped); });
  }
  if (rules) co_return co_await search_with_ripgrep(needs.loop, *needs.ripgrep, start, query, *rules, call.stop);
  co_return co_await needs.blocking.run([start, query, roots = call.run.roots, stopped = stop.flag()] {
    return search_by_walking(start, query, roots, stopped);
  });
}

/// Nothing matches what models write for other tools.
std::string_view hint_for(const GrepQuery& query) {
  if (query.pattern.find("\\|") != std::string::npos) return "; \\| is the character, | separates alternatives";
  const bool lists = query.glob.find_first_of(", ") != std::string::npos && query.glob.find('{') == std::string::npos;
  return lists ? "; several globs are written as {*.c,*.h}" : "";
}

std::string shown_matches(const std::vector<GrepExcerpt>& files, const ToolCall& call, const GrepQuery& query,
                          bool more) {
  std::string text;
  for (const auto& file : files) {
    if (!is_allowed(call.authorize(file.target))) continue;
    if (text.size() + file.text.size() > max_text_of_all) {
      text += file.text.substr(0, file.text.rfind('\n', max_text_of_all - text.size()) + 1);
      more = true;
      break;
    }
    text += file.text;
  }
  if (text.empty()) return fmt::format("[nothing matches{}]\n", hint_for(query));
  if (more) text += "[there are more matches: narrow the search by path, glob or pattern, or raise max]\n";
  return text;
}

Task<ToolOutcome> grep(const FileToolsDependencies& needs, const ToolCall& call) {
  const auto start = co_await opened(needs.blocking, call, named_path(call));
  const auto permission = call.authorize(target_of(start));
  if (!is_allowed(permission)) co_return refusal(permission);
  if (start.problem) throw BadRequest(fmt::format("{}: {}", start.path.string(), to_string(*start.problem)));
  const GrepQuery query{.pattern = text_input(call.input, "pattern"),
                        .glob = text_input(call.input, "glob"),
                        .ignore_case = is_true(call.input, "ignore_case"),
                        .max_lines = static_cast<std::size_t>(number_input(call.input, "max", 500, 1, max_lines))};
  const auto found = co_await search(needs, call, start, query);
  const auto context = number_input(call.input, "context", 0, 0, 100);
  const auto files = co_await needs.blocking.run(
      [start, found, context, roots = call.run.roots] { return read_matches(start, found.files, context, roots); });
  co_return ToolOutcome{shown_matches(files, call, query, found.more)};
}

/// Resolves the parents of a link, but not the link itself.
std::filesystem::path resolve_parents(const std::filesystem::path& path, const FileRoots& roots) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  auto file = locate(path, roots);
  if (file.problem && file.problem != FileError::not_found) return path;
  return std::move(file.path);
}

/// A new content for a file.
struct PendingWrite {
  std::string_view verb;  ///< the tool
  std::filesystem::path path;
  std::string content;
  std::string done{};                   ///< the message for the model; empty: that the file was created or replaced
  std::optional<std::string> edited{};  ///< the former content of the file, if Edit replaced a part of it
};

/// The content that the new one replaces; empty if there is none or it cannot be shown.
std::string content_before(const std::filesystem::path& path, const FileRoots& roots) {
  const auto file = locate(path, roots);
  if (file.problem || file.type != FileType::regular) return {};
  try {
    return whole_text(file);
  } catch (const BadRequest&) {
    return {};
  }
}

/// The diff to show to a person. Only the names if no line changes: the file is new and empty, or stays the same.
std::string diff_of(const WriteTarget& file, const PendingWrite& wanted, const std::string& before) {
  const auto name = to_utf8(file.path().string());
  const auto name_before = file.exists() ? name : "/dev/null";
  auto diff = unified_diff(to_utf8(before), to_utf8(wanted.content), name_before, name);
  return diff.empty() ? fmt::format("--- {}\n+++ {}\n", name_before, name) : diff;
}

Task<WriteTarget> resolved(BlockingPool& blocking, const ToolCall& call, std::filesystem::path path) {
  co_return co_await blocking.run(
      [path = std::move(path), roots = call.run.roots] { return WriteTarget(resolve_parents(path, roots), roots); });
}

/// Asks the person and shows the complete change. Afterwards resolves the path again: it must lead to the same file,
/// with the content that was shown.
Task<Permission> permit_write(BlockingPool& blocking, const ToolCall& call, const PendingWrite& wanted,
                              WriteTarget& file) {
  const auto before =
      co_await blocking.run([path = file.path(), roots = call.run.roots] { return content_before(path, roots); });
  auto diff = co_await blocking.run([file, wanted, before] { return diff_of(file, wanted, before); });
  auto permission = co_await call.permit(file.target(), std::move(diff));
  if (!is_allowed(permission)) co_return permission;
  file = co_await resolved(blocking, call, wanted.path);
  permission = call.authorize(file.target());
  if (!is_allowed(permission)) {
    co_return Permission{.verdict = Permission::Verdict::denied,
                         .reason = "permission denied: the path leads elsewhere than when the person was asked"};
  }
  const auto now =
      co_await blocking.run([path = file.path(), roots = call.run.roots] { return content_before(path, roots); });
  if (now == before) co_return permission;
  co_return Permission{.verdict = Permission::Verdict::denied,
                       .reason = "permission denied: the file has changed since the person was asked; read it again"};
}

/// Makes the person's editor write a file of the project. Returns false if no editor can. The editor opens the path by
/// name, so it must still lead to the authorized file.
Task<bool> write_in_editor(BlockingPool& blocking, const ToolCall& call, const WriteTarget& file,
                           const std::string& content) {
  if (!call.buffers || file.target().place != FilePlace::project || !is_utf8(content)) co_return false;
  const auto now = co_await resolved(blocking, call, file.path());
  if (now.path() != file.path() || now.target().place != FilePlace::project) co_return false;
  co_return co_await call.buffers->write(file.path().string(), content, call.stop);
}

std::shared_ptr<const EntryState> state_of(const WriteTarget& file, std::size_t limit) {
  return std::make_shared<const EntryState>(file.state(limit));
}

/// The state of a small file in a place where agents usually write; else nothing. A state that cannot be read is left
/// to the read after the permission, which reports why.
HashedState early_state(const WriteTarget& file) {
  const auto place = file.target().place;
  if (place != FilePlace::project && place != FilePlace::workspace) return {};
  try {
    HashedState found{.state = state_of(file, max_hashed_on_loop)};
    if (found.state->has_content) found.hash = to_hex(sha256(found.state->content));
    return found.state->kind == EntryKind::file && !found.hash ? HashedState{} : found;
  } catch (const BadRequest&) {
    return {};
  }
}

/// A file to write, and its state for the recorder if that has already been read: the new content has to wait for the
/// record of the change, which a read would delay.
struct ResolvedWrite {
  WriteTarget file;
  HashedState before{};
};

Task<ResolvedWrite> resolved_for_write(const FileToolsDependencies& needs, const ToolCall& call,
                                       std::filesystem::path path) {
  co_return co_await needs.blocking.run(
      [path = std::move(path), roots = call.run.roots, is_recorded = needs.recorder != nullptr] {
        WriteTarget file(resolve_parents(path, roots), roots);
        auto before = is_recorded ? early_state(file) : HashedState{};
        return ResolvedWrite{.file = std::move(file), .before = std::move(before)};
      });
}

/// The new content of a file on disk, and whether it has replaced the file. To destroy it blocks.
struct PreparedWrite {
  std::shared_ptr<WriteTarget::Prepared> content{};
  bool is_in_place = false;
};

/// If the permit comes soon, also replaces the file, which saves a round trip to the loop.
PreparedWrite prepare_write(const WriteTarget& file, const EntryState& after, ReplacePermit& permit) {
  PreparedWrite made{.content = file.prepare(after)};
  made.is_in_place = permit.is_given_within(patience_for_record);
  if (made.is_in_place) file.replace(*made.content, permit.present);
  return made;
}

void require_unchanged(const WriteTarget& file, const EntryState& before, const std::optional<std::string>& edited) {
  if (edited && before.has_content && before.content != *edited) {
    throw BadRequest(file.path().string() +
                     ": the file was changed in the meantime, nothing was written; read it again");
  }
}

/// Writes the file. With a recorder, only after the former content is stored, and only if the file still has it.
Task<> write_to(const FileToolsDependencies& needs, const ToolCall& call, ResolvedWrite resolved, PendingWrite wanted) {
  auto& blocking = needs.blocking;
  auto& [file, before] = resolved;
  if (!needs.recorder) {
    if (co_await write_in_editor(blocking, call, file, wanted.content)) co_return;
    co_await blocking.run([file, content = std::move(wanted.content)] { file.write(content); });
    co_return;
  }
  const auto after = std::make_shared<const EntryState>(file.state_with(std::move(wanted.content)));
  const auto permit = std::make_shared<ReplacePermit>();
  const auto prepare = [file, after, permit] { return prepare_write(file, *after, *permit); };
  // Writing the new content and recording the change overlap, but the record is on disk before the file is replaced.
  std::optional<StartedWork<PreparedWrite>> prepared;
  if (!call.buffers && file.can_prepare()) prepared = blocking.start(prepare);
  if (!before.state) {
    before.state =
        co_await blocking.run([file, limit = needs.recorder->max_file_size()] { return state_of(file, limit); });
  }
  require_unchanged(file, *before.state, wanted.edited);
  permit->present = before.state->stamp;
  PlannedWrite planned{
      .path = file.path(), .before = std::move(before), .after = {after}, .new_directories = file.new_directories()};
  // From the thread that records the change directly to the one with the new content, not by way of the loop.
  if (prepared) planned.on_recorded = [permit] { permit->give(); };
  co_await needs.recorder->before_write(call.run, std::move(planned));
  PreparedWrite made;
  if (!co_await write_in_editor(blocking, call, file, after->content)) {
    permit->give();
    made = prepared ? co_await prepared->result() : co_await blocking.run(prepare);
    if (!made.is_in_place) {
      // Moved, so that the pool removes the content if that fails.
      made.content = co_await blocking.run([file, content = std::move(made.content), permit]() mutable {
        file.replace(*content, permit->present);
        return std::move(content);
      });
    }
  }
  co_await needs.recorder->after_write(after, std::move(made.content));
}

/// Stages the change or makes it, as the agent's permission requires.
Task<ToolOutcome> put(const FileToolsDependencies& needs, const ToolCall& call, PendingWrite wanted) {
  auto resolved = co_await resolved_for_write(needs, call, wanted.path);
  auto& file = resolved.file;
  auto permission = call.authorize(file.target());
  if (permission.verdict == Permission::Verdict::denied) co_return refusal(permission);
  const bool is_soul = file.target().place == FilePlace::own_soul;
  // A longer file could not be read again, and the agent would lose its soul.
  if (is_soul && wanted.content.size() > identity_limit) throw PayloadTooLarge(identity_too_large);
  if (permission.verdict == Permission::Verdict::ask) {
    resolved.before = {};  // the person may change the file meanwhile
    permission = co_await permit_write(needs.blocking, call, wanted, file);
    if (permission.verdict == Permission::Verdict::denied) co_return refusal(permission);
  }
  if (permission.verdict == Permission::Verdict::staged) {
    if (!is_utf8(wanted.content))
      throw BadRequest(fmt::format("{}: not UTF-8, which no proposal can hold", wanted.path.string()));
    const auto reference =
        co_await call.stage({.type = is_soul ? "soul" : "file",
                             .title = fmt::format("{} {}", wanted.verb, shown_path(file.path(), call.run.roots)),
                             .target = file.path().string(),
                             .content = std::move(wanted.content)});
    co_return ToolOutcome{"staged as proposal " + reference};
  }
  AGW_CHECK(is_allowed(permission), "a file would be written without permission");
  if (wanted.done.empty()) {
    wanted.done = fmt::format("{} {}", file.exists() ? "replaced" : "created", file.path().string());
  }
  auto done = wanted.done;
  co_await write_to(needs, call, std::move(resolved), std::move(wanted));
  co_return ToolOutcome{std::move(done)};
}

Task<ToolOutcome> write(const FileToolsDependencies& needs, const ToolCall& call) {
  co_return co_await put(needs, call,
                         {.verb = "Write", .path = named_path(call), .content = text_input(call.input, "content")});
}

Task<ToolOutcome> edit(const FileToolsDependencies& needs, const ToolCall& call) {
  auto& blocking = needs.blocking;
  const auto file = co_await opened(blocking, call, named_path(call));
  const auto permission = call.authorize(target_of(file));
  if (permission.verdict == Permission::Verdict::denied) co_return refusal(permission);
  const Replacement wanted{.old_string = text_input(call.input, "old_string"),
                           .new_string = text_input(call.input, "new_string"),
                           .all = is_true(call.input, "replace_all")};
  const auto in_editor = co_await text_in_editor(call, file);
  auto text = in_editor ? *in_editor : co_await blocking.run([file] { return whole_text(file); });
  auto replaced = co_await blocking.run([text, wanted] { return replace_in(text, wanted); });
  auto done =
      fmt::format("replaced {} in {}", replaced.count == 1 ? "1 place" : fmt::format("{} places", replaced.count),
                  file.path.string());
  co_return co_await put(needs, call,
                         {.verb = "Edit",
                          .path = file.path,
                          .content = std::move(replaced.text),
                          .done = std::move(done),
                          .edited = in_editor ? std::nullopt : std::optional(std::move(text))});
}

Task<ToolOutcome> bash(Shell& shell, const ToolCall& call) {
  const auto time = number_input(call.input, "timeout_s", 120, 1, Shell::max_time.count());
  co_return co_await shell.run(call, {.command = text_input(call.input, "command"),
                                      .time = std::chrono::seconds(time),
                                      .network = is_true(call.input, "network")});
}

json::value text(std::string_view description) { return {{"type", "string"}, {"description", description}}; }
json::value flag(std::string_view description) { return {{"type", "boolean"}, {"description", description}}; }
json::value number(std::string_view description, std::int64_t min, std::int64_t max) {
  return {{"type", "integer"}, {"description", description}, {"minimum", min}, {"maximum", max}};
}

json::value schema(std::initializer_list<std::string_view> required, json::object properties) {
  json::array names;
  for (const auto name : required) names.emplace_back(name);
  return json::object{{"type", "object"},
                      {"properties", std::move(properties)},
                      {"required", std::move(names)},
                      {"additionalProperties", false}};
}

constexpr auto path_text =
    "Absolute, or relative to the working directory (the project, else the agent's workspace); ~ is the home "
    "directory.";

ToolDescription read_description() {
  return {"Read",
          "Reads a text file and shows its lines with their numbers, or lists a directory. At most 2000 lines at a "
          "time: continue with offset. Binary files cannot be read.",
          schema({"path"}, {{"path", text(path_text)},
                            {"offset", number("The first line to show, counted from 1.", 1, std::int64_t{1} << 40)},
                            {"limit", number("The number of lines to show; default 2000.", 1, 1'000'000)}})};
}

ToolDescription glob_description() {
  return {
      "Glob",
      "Finds files and directories whose paths match a pattern such as **/*.cpp or src/*.{ts,js}, newest first, at "
      "most 1000.",
      schema({"pattern"},
             {{"pattern", text("* and ? match within a name, ** matches across directories, {a,b} matches either.")},
              {"path", text("The directory to start in; default: the working directory.")}})};
}

ToolDescription grep_description() {
  return {"Grep",
          "Searches the contents of files for a regular expression and shows matching lines as path:line:text. What "
          ".gitignore names, hidden and binary files are left out.",
          schema({"pattern"},
                 {{"pattern", text("A regular expression, without look-around and back-references.")},
                  {"path", text("The file or directory to search; default: the working directory.")},
                  {"glob", text("Search only files that match, such as *.cpp; with a leading !, only the others.")},
                  {"ignore_case", flag("Ignore upper and lower case.")},
                  {"context", number("How many lines to show around each match.", 0, 100)},
                  {"max", number("The maximum number of matching lines; default 500.", 1, max_lines)}})};
}

ToolDescription write_description() {
  return {
      "Write",
      "Creates a file, or replaces all of its content. Creates missing directories. To change a part of a file use "
      "Edit.",
      schema({"path", "content"}, {{"path", text(path_text)}, {"content", text("The complete content of the file.")}})};
}

ToolDescription edit_description() {
  return {"Edit",
          "Replaces text in a file. old_string must match the file exactly, without the line numbers that Read "
          "shows, and must occur once, unless replace_all is set.",
          schema({"path", "old_string", "new_string"}, {{"path", text(path_text)},
                                                        {"old_string", text("The current text in the file.")},
                                                        {"new_string", text("The text to replace it with.")},
                                                        {"replace_all", flag("Replaces all occurrences.")}})};
}

ToolDescription bash_description() {
  return {
      "Bash",
      "Runs a shell command in a sandbox, in the working directory, and shows its output and exit code. It can write "
      "the project and the agent's workspace; all its processes are ended afterwards. For reading, searching and "
      "changing files the other tools are better.",
      schema({"command"},
             {{"command", text("For bash -c.")},
              {"network", flag("The command requires the network. Set it only if necessary.")},
              {"timeout_s", number("The time limit in seconds; default 120.", 1, 600)},
              {"description", text("The purpose of the command in a few words, for the person who reads along.")}})};
}

Tool tool(ToolDescription description, ToolEffect effect, std::function<Task<ToolOutcome>(const ToolCall&)> call) {
  return {.description = std::move(description), .effect = effect, .authorizes_itself = true, .call = std::move(call)};
}

}  // namespace

std::vector<Tool> file_tools(const FileToolsDependencies& needs) {
  auto& blocking = needs.blocking;
  auto& shell = needs.shell;
  std::vector<Tool> tools{
      tool(read_description(), ToolEffect::reads, [&blocking](const ToolCall& call) { return read(blocking, call); }),
      tool(glob_description(), ToolEffect::reads, [&blocking](const ToolCall& call) { return glob(blocking, call); }),
      tool(grep_description(), ToolEffect::reads, [needs](const ToolCall& call) { return grep(needs, call); }),
      tool(write_description(), ToolEffect::writes, [needs](const ToolCall& call) { return write(needs, call); }),
      tool(edit_description(), ToolEffect::writes, [needs](const ToolCall& call) { return edit(needs, call); }),
      tool(bash_description(), ToolEffect::executes, [&shell](const ToolCall& call) { return bash(shell, call); })};
  // Allows for setting up the sandbox and for ending the command after its own limit.
  tools.back().limit = Shell::max_time + std::chrono::seconds(30);
  return tools;
}

}  // namespace agw
