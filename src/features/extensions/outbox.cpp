// How changes of records reach their directories, although a transaction cannot contain a rename.
// docs/design/storage.md, "Directories follow records".
//
// A *step* is one write of a directory's files, or one move of a directory; deleting is a move to trash/. The *outbox*
// (table extension_outbox) contains the steps that may not be on disk yet. The *known state* of a directory (table
// extension_directories) is its inode, and the content ids and stamps of its two files as the gateway left them.
//
// The invariant: a change of a record and its steps are in one transaction, and a step leaves the outbox only after the
// disk was synced. So executing the outbox in order always brings the directories to the state of the records. Files
// with content that is not the gateway's belong to a person: they are moved to trash/ or become the record, but are
// never overwritten.
//
//   1. `record_steps`, inside the transaction: add the steps. The text of a write replaces those of earlier writes in
//   the outbox.
//   2. `execute`, before anything else is awaited: execute the steps, on one thread, in the order of the commits.
//   3. Store the inodes of new directories, before the response and thus before any later rename.
//   4. About a second later: sync the disk, store the known states, delete the completed steps, in this order.
//
// A step that fails stays in the outbox. It is repeated by the next comparison of the directories, when another step
// needs its path, or by the next start.
//
// A kill
//   - before the commit: neither the record nor the directory has changed.
//   - between 1 and 4: the next start repeats all steps in the outbox (`repeat`). A move is complete if the old name
//     is that of another directory, by its inode, or of none. If the inode is unknown, a directory at the new name
//     means the same. A write compares contents: files whose content id is known, or is that of a step in the outbox,
//     are the gateway's and are overwritten; other contents are edits, and stay.
//   - during 4: the same. Steps that were deleted had been synced.
//
// Why repeating a step is harmless: a move is complete once the inode at the new name is the directory's, and a write
// once the contents are the step's; `repeat` checks before it acts. Why the order of 4 matters: a step is deleted only
// after the sync, so the table still has the step of every change that a power failure may undo.
//
// After a power failure, a file may exist but be empty. It is written again: an empty file does not count as an edit.

#include "features/extensions/outbox.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/digest.hpp"
#include "base/json/yaml.hpp"
#include "base/log.hpp"
#include "features/extensions/validation.hpp"
#include "storage/start_write.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto time_to_gather = 1s;
constexpr auto trash_check_interval = 24h;
/// Rows per background write.
constexpr std::size_t piece = 200;

template <class T>
std::vector<T> piece_of(const std::vector<T>& all, std::size_t begin) {
  AGW_ASSERT(begin < all.size());
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(std::min(piece, all.size() - begin))};
}

/// Rejects a file that would be too long to be read back.
void check_length(const Extension& extension, const ExtensionText& text) {
  if (text.config.size() <= max_yaml_size) return;
  const auto description = json_to_yaml(json::value(extension.description));
  const auto* const what = description.size() > text.config.size() / 2 ? "description" : "definition";
  const auto why = fmt::format("{} is too long: as a file it would be over {} MiB", what, max_yaml_size >> 20);
  fail_validation({{.path = what, .message = why}});
}

DiskStep write_step(const Extension& extension, ExtensionText text) {
  AGW_ASSERT(is_file_backed(extension.type));
  check_length(extension, text);
  DiskStep step;
  step.extension_id = extension.id;
  step.action = DiskStep::Action::write;
  step.directory = directory_of(extension.type, extension.name);
  step.config_id = content_id(text.config);
  if (text.prompt) step.prompt_id = content_id(*text.prompt);
  step.text = std::move(text);
  AGW_ASSERT(!step.config_id.empty());
  return step;
}

DiskStep move_step(Connection& connection, const Extension& extension, std::string target) {
  AGW_ASSERT(is_file_backed(extension.type));
  AGW_ASSERT(!target.empty());
  DiskStep step;
  step.extension_id = extension.id;
  step.action = DiskStep::Action::move;
  step.directory = directory_of(extension.type, extension.name);
  step.target = std::move(target);
  step.inode = outbox_store::known_inode(connection, extension.id);
  return step;
}

}  // namespace

ExtensionOutbox::ExtensionOutbox(Loop& loop, Database& database, std::filesystem::path data_directory,
                                 std::chrono::days kept, Files files)
    : database_(database),
      data_directory_(std::move(data_directory)),
      kept_(kept),
      directories_(std::make_shared<ExtensionDirectories>(data_directory_)),
      disk_(loop, 1),
      syncing_(loop, 1),
      files_(files),
      outcome_(loop),
      comparison_wanted_(loop),
      background_(loop) {}

std::vector<DiskStep> ExtensionOutbox::record_steps(Connection& connection, const Extension* before,
                                                    const Extension* after, Rewrite rewrite) {
  AGW_ASSERT(before || after);
  if (before && after) AGW_ASSERT(before->id == after->id);
  if (before && after) AGW_ASSERT(before->type == after->type);
  const auto& any = after ? *after : *before;
  std::vector<DiskStep> steps;
  if (!is_file_backed(any.type)) return steps;
  AGW_ASSERT(connection.in_transaction());
  const auto record_step = [&](DiskStep step) { outbox_store::add(connection, steps.emplace_back(std::move(step))); };
  if (!after) {
    record_step(move_step(connection, *before, path_in_trash(directory_of(any.type, before->name), before->id)));
    outbox_store::forget(connection, before->id);
    return steps;
  }
  if (before && before->name != after->name) {
    record_step(move_step(connection, *before, directory_of(any.type, after->name)));
  }
  auto text = text_of(*after);
  const bool is_same = before && text == text_of(*before);
  if (!is_same || rewrite == Rewrite::always) record_step(write_step(*after, std::move(text)));
  // The files are written where the directory is moved to.
  AGW_ASSERT(steps.size() < 2 || steps.back().directory == steps.front().target);
  return steps;
}

Task<bool> ExtensionOutbox::execute(std::vector<DiskStep> steps) {
  if (steps.empty()) co_return true;
  AGW_ASSERT(std::ranges::all_of(steps, [](const auto& step) { return step.sequence > 0; }));
  if (!is_shared()) co_return co_await execute_here(std::move(steps));
  std::vector<std::int64_t> wanted;
  std::ranges::transform(steps, std::back_inserter(wanted), &DiskStep::sequence);
  co_return co_await await_executed(std::move(wanted));
}

Task<bool> ExtensionOutbox::execute_here(std::vector<DiskStep> steps) {
  std::vector<std::int64_t> wanted;
  std::ranges::transform(steps, std::back_inserter(wanted), &DiskStep::sequence);
  auto [done, made] = co_await disk_.run([directories = directories_, steps = std::move(steps)] {
    auto executed = directories->execute(steps);
    return std::pair(std::move(executed), directories->made());
  });
  schedule_deletion(done);
  co_await record_made(std::move(made));
  co_return std::ranges::all_of(wanted, [&](auto sequence) { return contains(done, sequence); });
}

Task<> ExtensionOutbox::check_replaceable(ExtensionPointer extension) {
  co_await disk_.run([directories = directories_, extension] { directories->check_replaceable(*extension); });
}

/// Completes before the response and thus before any later rename: a start that repeats the rename needs the inode.
Task<> ExtensionOutbox::record_made(KnownDirectories made) {
  if (made.empty()) co_return;
  try {
    co_await database_.write(
        [made = std::move(made)](Connection& connection) { outbox_store::store_inodes(connection, made); });
  } catch (const std::exception& error) {
    log::warn("new directories of extensions are recorded later: {}", error.what());
  }
}

void ExtensionOutbox::record_made_at_start(Connection& connection) {
  AGW_ASSERT(!started_);
  const auto made = directories_->made();
  if (made.empty()) return;
  write_at_start(connection, "recording new directories of extensions",
                 [&] { outbox_store::store_inodes(connection, made); });
}

Task<DirectoryFindings> ExtensionOutbox::compare(std::vector<ExtensionPointer> records, ExtensionDirectories::At at) {
  auto [findings, made] = co_await disk_.run([directories = directories_, records = std::move(records), at] {
    auto found = directories->compare(records, at);
    return std::pair(std::move(found), directories->made());
  });
  if (!findings.done.empty()) schedule_deletion(findings.done);
  co_await record_made(std::move(made));
  co_return std::move(findings);
}

Task<DirectoryFindings> ExtensionOutbox::edit_of(ExtensionPointer record) {
  if (is_shared() && !leads_) co_return DirectoryFindings{};
  co_return co_await disk_.run([directories = directories_, record] { return directories->edit_of(record); });
}

void ExtensionOutbox::record_known(Connection& connection, const std::string& extension_id, KnownDirectory known) {
  outbox_store::forget(connection, extension_id);
  // A person may have edited the file again within the resolution of the stamp. Without a stamp, the next comparison
  // reads the files.
  known.config.stamp = known.prompt.stamp = {};
  outbox_store::store_known(connection, extension_id, known);
}

Task<> ExtensionOutbox::accept(std::string extension_id, std::string path, KnownDirectory known) {
  co_await disk_.run([directories = directories_, id = std::move(extension_id), path = std::move(path), known] {
    directories->accept(id, path, known);
  });
  schedule_deletion();
}

void ExtensionOutbox::load(Connection& connection) {
  AGW_ASSERT(!started_);
  AGW_ASSERT(!is_shared());
  outbox_store::for_each_known(connection, [&](std::string id, KnownDirectory known) {
    directories_->set_known(std::move(id), std::move(known));
  });
  schedule_deletion(directories_->repeat(outbox_store::steps(connection)));
  record_made_at_start(connection);
}

DirectoryFindings ExtensionOutbox::compare_at_start(Connection& connection,
                                                    const std::vector<ExtensionPointer>& records) {
  AGW_ASSERT(!started_);
  auto findings = directories_->compare(records, ExtensionDirectories::At::stamps);
  schedule_deletion(findings.done);
  record_made_at_start(connection);
  return findings;
}

void ExtensionOutbox::execute_at_start(Connection& connection, const std::vector<DiskStep>& steps) {
  AGW_ASSERT(!started_);
  schedule_deletion(directories_->execute(steps));
  record_made_at_start(connection);
}

void ExtensionOutbox::accept_at_start(const std::string& extension_id, const std::string& path,
                                      const KnownDirectory& known) {
  AGW_ASSERT(!started_);
  directories_->accept(extension_id, path, known);
}

void ExtensionOutbox::start() {
  AGW_ASSERT(!started_);
  AGW_ASSERT(!is_deleting_done_);
  started_ = true;
  schedule_deletion();
  if (!is_shared()) background_.spawn(prune_trash());
}

Task<> ExtensionOutbox::stop() {
  stopping_.request();
  co_await background_.join();
  AGW_DEBUG_ASSERT(!is_deleting_done_);
  AGW_DEBUG_ASSERT(!is_executing_);
  // The next start repeats every step that is still recorded, which makes it slower.
  if (has_changes_) co_await try_to_delete_done();
}

Task<> ExtensionOutbox::prune_trash() {
  do {
    try {
      // Not on `disk_`, because requests wait for its steps.
      co_await syncing_.run(
          [directory = data_directory_, oldest = SystemClock().now() - kept_] { empty_trash(directory, oldest); });
    } catch (const std::exception& error) {
      log::warn("the trash is kept for another day: {}", error.what());
    }
  } while (co_await pause(stopping_, trash_check_interval) == WaitResult::done);
}

void ExtensionOutbox::schedule_deletion(const std::vector<std::int64_t>& done) {
  AGW_DEBUG_ASSERT(std::ranges::all_of(done, [](auto sequence) { return sequence > 0; }));
  done_.insert(done_.end(), done.begin(), done.end());
  schedule_deletion();
}

void ExtensionOutbox::schedule_deletion() {
  has_changes_ = true;
  if (!started_ || is_deleting_done_ || stopping_.requested()) return;
  is_deleting_done_ = true;
  background_.spawn(delete_done());
}

Task<> ExtensionOutbox::delete_done() {
  while (has_changes_ && co_await pause(stopping_, time_to_gather) == WaitResult::done) co_await try_to_delete_done();
  AGW_ASSERT(is_deleting_done_);
  is_deleting_done_ = false;
}

Task<> ExtensionOutbox::try_to_delete_done() {
  // Two at a time could delete steps that the other one has not synced yet.
  AGW_ASSERT(is_deleting_done_ || stopping_.requested());
  has_changes_ = false;
  const auto done = std::exchange(done_, {});
  std::string why;
  try {
    co_await delete_done(done);
    co_return;
  } catch (const std::exception& error) {
    why = error.what();
  }
  log::error("the directories of extensions may not be on disk yet: {}", why);
  schedule_deletion(done);
}

Task<> ExtensionOutbox::delete_done(std::vector<std::int64_t> done) {
  const auto changed = co_await disk_.run([directories = directories_] { return directories->take_changed(); });
  if (done.empty() && changed.empty()) co_return;
  co_await syncing_.run([directories = directories_] { directories->sync(); });
  for (std::size_t begin = 0; begin < changed.size(); begin += piece) {
    const auto record = [changed = piece_of(changed, begin)](Connection& connection) {
      for (const auto& [id, known] : changed) outbox_store::store_known(connection, id, known);
    };
    co_await database_.write(record, Database::Lane::background);
  }
  for (std::size_t begin = 0; begin < done.size(); begin += piece) {
    const auto delete_done = [done = piece_of(done, begin)](Connection& connection) {
      for (const auto sequence : done) outbox_store::remove(connection, sequence);
    };
    co_await database_.write(delete_done, Database::Lane::background);
  }
  for (const auto sequence : done) executed_.erase(sequence);
}

}  // namespace agw
