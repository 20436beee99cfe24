// Write and Edit. Before a write, the recorder stores the former content (`write_to`), so that every change can be
// undone.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "base/text/unified_diff.hpp"
#include "base/text/utf8.hpp"
#include "tools/files/file_calls.hpp"
#include "tools/files/file_text.hpp"
#include "tools/files/replace_permit.hpp"
#include "tools/files/replacement.hpp"
#include "tools/files/write_target.hpp"
#include "tools/input.hpp"

namespace agw {

namespace {

/// How long the thread with the new content on disk waits for the record of the change, which usually needs less. No
/// longer, because the pool has few threads.
constexpr std::chrono::microseconds patience_for_record{1000};

std::string write_schema() {
  return std::string(R"({
  "type": "object",
  "properties": {
    "path": )")
      .append(path_schema)
      .append(R"(,
    "content": {"type": "string", "description": "The complete content of the file."}
  },
  "required": ["path", "content"],
  "additionalProperties": false
})");
}

std::string edit_schema() {
  return std::string(R"({
  "type": "object",
  "properties": {
    "path": )")
      .append(path_schema)
      .append(R"(,
    "old_string": {"type": "string", "description": "The current text in the file."},
    "new_string": {"type": "string", "description": "The text to replace it with."},
    "replace_all": {"type": "boolean", "description": "Replaces all occurrences."}
  },
  "required": ["path", "old_string", "new_string"],
  "additionalProperties": false
})");
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

}  // namespace

std::vector<Tool> write_tools(const FileToolsDependencies& needs) {
  return {
      file_tool("Write",
                "Creates a file, or replaces all of its content. Creates missing directories. To change a part of a "
                "file use Edit.",
                write_schema(), ToolEffect::writes, [needs](const ToolCall& call) { return write(needs, call); }),
      file_tool("Edit",
                "Replaces text in a file. old_string must match the file exactly, without the line numbers that Read "
                "shows, and must occur once, unless replace_all is set.",
                edit_schema(), ToolEffect::writes, [needs](const ToolCall& call) { return edit(needs, call); })};
}

}  // namespace agw
