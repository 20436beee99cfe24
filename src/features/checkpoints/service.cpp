// Records the changes of runs to files before they happen, so that they can be undone (undo.cpp).
//
// A *change* is a row with the states of a path before and after; the blob store has the contents. A change is
// *uncovered* if the previous content cannot be kept: it is reported with the reason, and never undone.
//
// The invariant: a tool writes a file only after the previous content and the record are on disk (`before_write`); if
// storing either fails, it does not write. The changes of a command are found by comparing listings of its directory
// (command_changes.cpp), whose contents were stored before it began.
//
//   1. `before_write`: store the previous content and the record concurrently, to wait for the disk only once. If the
//      content cannot be stored, the record is withdrawn and the tool reports the reason. If the content is stored
//      already, as after an earlier write, the writer's thread announces the record as soon as it is on disk.
//   2. The tool writes.
//   3. `after_write`: store the new content in the background. It is needed only for diffs and to detect later changes
//      of the file; an undo waits for it.
//
// A kill between 1 and 2 leaves a record of a change that was never made: the path is unchanged, and an undo finds
// nothing to do. A kill between 2 and 3 loses the diff, but not the undo. Records and contents are deleted together,
// by age.

#include "features/checkpoints/service.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text/is_within.hpp"
#include "base/text/utf8.hpp"
#include "config/data_directory.hpp"
#include "config/settings.hpp"
#include "features/checkpoints/changes_view.hpp"
#include "features/checkpoints/entry_access.hpp"
#include "features/checkpoints/store.hpp"
#include "io/files/disk_full.hpp"
#include "io/sandbox/private_files.hpp"
#include "storage/announced_write.hpp"
#include "storage/database.hpp"

namespace agw {

namespace {

/// How many new contents may wait to be stored in the background. If there are more, a call waits for its own.
constexpr std::size_t max_waiting_results = 16;

constexpr auto time_between_prunes = std::chrono::hours(24);

constexpr auto too_large = "larger than {} MiB: its former content was not kept";

StoredState stored(const EntryState& state, std::optional<std::string> hash) {
  return {.kind = state.kind,
          .hash = std::move(hash),
          .mode = state.mode,
          .modified_ns = state.modified_ns,
          .accessed_ns = state.accessed_ns};
}

std::size_t bytes_to_hash(const HashedState& each) { return each.hash ? 0 : each.state->content.size(); }

std::optional<std::string> hash_of(const HashedState& each) {
  return each.hash ? each.hash : EntryAccess::stored(*each.state).hash;
}

/// Calls `store`. If that fails, throws an error whose text is meant for the model and the person.
template <class Store>
auto stored_or_refused(const std::filesystem::path& path, Store store) {
  try {
    return store();
  } catch (const std::system_error& error) {
    const auto why = is_disk_full(error.code()) ? std::string("disk full") : std::string(error.what());
    throw InsufficientStorage(
        fmt::format("{}: nothing was written to {}, because its former content could not be kept", why, path.string()));
  }
}

}  // namespace

/// The result of a write that is not stored yet.
class Checkpoints::PendingResult {
public:
  explicit PendingResult(Checkpoints& owner) : owner_(owner), number_(owner.next_result_++) {
    AGW_ASSERT(owner_.pending_results_.empty() || *owner_.pending_results_.rbegin() < number_);
    owner_.pending_results_.insert(number_);
  }
  ~PendingResult() {
    const auto removed = owner_.pending_results_.erase(number_);
    AGW_ASSERT(removed == 1);
    owner_.result_stored_.pulse();
  }
  PendingResult(const PendingResult&) = delete;
  PendingResult& operator=(const PendingResult&) = delete;

private:
  Checkpoints& owner_;
  const std::uint64_t number_;
};

Checkpoints::Checkpoints(Loop& loop, BlockingPool& blocking, Database& database, const Clock& clock, Runs& runs,
                         Threads& threads, Options options)
    : blocking_(blocking),
      database_(database),
      clock_(clock),
      runs_(runs),
      threads_(threads),
      options_(std::move(options)),
      blobs_(std::make_shared<BlobStore>(options_.directory, options_.total_bytes)),
      observer_(std::make_shared<CommandObserver>(
          blobs_, CommandObserver::Limits{.file_bytes = options_.file_bytes, .unchanged = options_.unchanged})),
      result_stored_(loop),
      background_(loop) {
  background_.on_failure([](const std::exception_ptr& failure) {
    log::error("background work of checkpoints failed: {}", message_of(failure));
  });
}

void Checkpoints::start() {
  AGW_ASSERT(!unsettled_);
  AGW_ASSERT(!stopping_.requested());
  background_.spawn(forget_old());
}

Task<> Checkpoints::stop() {
  stopping_.request();
  co_await background_.join();
}

Task<> Checkpoints::forget_old() {
  do {
    const auto oldest = clock_.now() - options_.kept;
    co_await remove_in_batches(
        database_, stopping_, "old changes of files stay in the database",
        [oldest](Connection& connection, int limit) { return checkpoint_store::forget(connection, oldest, limit); });
    co_await blocking_.run([blobs = blobs_, oldest] { blobs->prune(oldest); });
  } while (co_await pause(stopping_, time_between_prunes) == WaitResult::done);
}

Task<> Checkpoints::before_write(const ToolRun& run, PlannedWrite write) {
  AGW_ASSERT(write.before.state);
  AGW_ASSERT(write.after.state);
  AGW_ASSERT(write.path.is_absolute());
  if (is_private_path(write.path)) throw Forbidden("permission denied: " + write.path.string() + " is private");
  const auto& before = *write.before.state;
  const bool is_large = before.kind == EntryKind::file && before.stamp.size > options_.file_bytes;
  if (before.kind == EntryKind::file && !before.has_content && !is_large) {
    throw BadRequest(write.path.string() + ": it cannot be read, or changes all the time, so nothing was written");
  }
  const auto use = std::make_shared<BlobStore::Use>(*blobs_);
  const auto hash = [former = write.before, after = write.after] { return std::pair(hash_of(former), hash_of(after)); };
  const bool is_quick = bytes_to_hash(write.before) + bytes_to_hash(write.after) <= max_hashed_on_loop;
  auto hashes = is_quick ? hash() : co_await blocking_.run(hash);
  AGW_ASSERT(hashes.first.has_value() == before.has_content);
  std::optional<StartedWork<std::string>> kept;
  if (before.has_content && !blobs_->is_certainly_kept(*hashes.first)) {
    kept = blocking_.start([blobs = blobs_, use, path = write.path, former = write.before.state] {
      return stored_or_refused(path, [&] { return blobs->put(former->content); });
    });
    write.on_recorded = [] {};  // the record does not suffice
  }
  StoredChange change{.run_id = run.run_id,
                      .thread_id = run.thread_id,
                      .root = run.roots.working_directory().string(),
                      .path = write.path.string(),
                      .before = stored(before, std::move(hashes.first)),
                      .after = stored(*write.after.state, std::move(hashes.second)),
                      .created_at = clock_.now()};
  std::optional<UncoveredChange> uncovered;
  if (is_large) uncovered = {change.path, fmt::format(too_large, options_.file_bytes >> 20)};
  // Both are written concurrently. If a kill leaves a record without its content, the change was never made.
  const auto numbers = co_await record(std::move(change), std::move(write.new_directories), std::move(uncovered),
                                       std::move(write.on_recorded));
  if (kept) co_await require_kept(*kept, numbers);
}

// Called only after the write: file systems have one journal, so syncing the new file would otherwise wait for syncing
// this copy.
Task<> Checkpoints::after_write(std::shared_ptr<const EntryState> after, std::shared_ptr<const void> former) {
  AGW_ASSERT(after);
  auto storing = store_result(std::move(after), std::move(former), std::make_shared<PendingResult>(*this));
  if (background_.size() < max_waiting_results)
    background_.spawn(std::move(storing));
  else
    co_await std::move(storing);
}

/// If the previous content could not be stored, withdraws the record and throws, so that the change is not made.
Task<> Checkpoints::require_kept(StartedWork<std::string>& kept, const std::vector<std::int64_t>& numbers) {
  AGW_ASSERT(!numbers.empty());
  std::exception_ptr failure;
  try {
    co_await kept.result();
    co_return;
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    co_await database_.write([numbers](Connection& connection) {
      for (const auto number : numbers) checkpoint_store::withdraw(connection, number);
    });
  } catch (const std::exception& error) {
    log::warn("cannot withdraw the record of a change that was not made: {}", error.what());
  }
  std::rethrow_exception(failure);
}

/// Records the creation of missing directories, then the change of the file. Returns the numbers of the rows.
Task<std::vector<std::int64_t>> Checkpoints::record(StoredChange change,
                                                    std::vector<std::filesystem::path> new_directories,
                                                    std::optional<UncoveredChange> uncovered,
                                                    std::function<void()> on_recorded) {
  const auto numbers = std::make_shared<std::vector<std::int64_t>>();
  const auto insert = [change, new_directories, uncovered, numbers](Connection& connection) {
    numbers->clear();  // of an attempt that was rolled back
    for (const auto& directory : new_directories) {
      auto created = change;
      created.path = directory.string();
      created.before = {};
      created.after = {.kind = EntryKind::directory, .mode = 0755};
      numbers->push_back(checkpoint_store::insert(connection, created));
    }
    numbers->push_back(checkpoint_store::insert(connection, change));
    if (uncovered) checkpoint_store::insert_uncovered(connection, change.run_id, *uncovered, change.created_at);
    AGW_ASSERT(numbers->size() == new_directories.size() + 1);
  };
  try {
    co_await database_.write(AnnouncedWrite{.work = insert, .committed = std::move(on_recorded)});
    co_return std::move(*numbers);
  } catch (const DiskFull&) {
    throw InsufficientStorage(
        fmt::format("disk full: nothing was written to {}, because its former content could not be kept", change.path));
  }
}

/// Stores the new content for diffs, and because it is probably the previous content of the next change.
Task<> Checkpoints::store_result(std::shared_ptr<const EntryState> after, std::shared_ptr<const void> former,
                                 std::shared_ptr<PendingResult> /*pending*/) {
  // First, the tool's result goes on its way: the thread that stores the content might take the loop's processor.
  co_await asio::post(asio::use_awaitable);
  co_await blocking_.run(
      [blobs = blobs_, after = std::move(after), former = std::move(former), limit = options_.file_bytes]() mutable {
        former = nullptr;
        if (after->content.size() > limit) return;
        try {
          blobs->put(after->content);
        } catch (const std::system_error& error) {
          log::warn("cannot store a file that a run wrote, so its diff is missing: {}", error.what());
        }
      });
}

Task<> Checkpoints::record_uncovered(const ToolRun& run, std::string path, std::string reason) {
  UncoveredChange uncovered{std::move(path), std::move(reason)};
  AGW_ASSERT(uncovered.path.starts_with('/'));
  co_await database_.write(
      [id = run.run_id, now = clock_.now(), uncovered = std::move(uncovered)](Connection& connection) {
        checkpoint_store::insert_uncovered(connection, id, uncovered, now);
      });
}

Task<> Checkpoints::results_stored() {
  const auto after_this = next_result_;
  while (!pending_results_.empty() && *pending_results_.begin() < after_this) co_await result_stored_.wait();
}

Task<> Checkpoints::record_hosts(const ToolRun& run, std::vector<ContactedHost> hosts) {
  co_await database_.write([id = run.run_id, now = clock_.now(), hosts = std::move(hosts)](Connection& connection) {
    for (const auto& each : hosts) checkpoint_store::add_host(connection, id, each, now);
  });
}

Task<std::vector<StoredChange>> Checkpoints::require_run(std::string run_id) {
  auto changes = co_await database_.read(
      [run_id](Connection& connection) { return checkpoint_store::of_run(connection, run_id); });
  if (changes.empty() && !co_await runs_.exists(run_id)) {
    const auto uncovered = co_await database_.read(
        [run_id](Connection& connection) { return checkpoint_store::uncovered_of(connection, run_id); });
    const auto hosts = co_await database_.read(
        [run_id](Connection& connection) { return checkpoint_store::hosts_of(connection, run_id); });
    if (uncovered.empty() && hosts.empty()) throw NotFound("run not found");
  }
  co_return changes;
}

Task<> Checkpoints::require(std::string run_id) { co_await require_run(std::move(run_id)); }

Task<std::optional<std::string>> Checkpoints::content_left(std::string run_id, std::string path) {
  const auto changes = co_await database_.read(
      [run_id](Connection& connection) { return checkpoint_store::of_run(connection, run_id); });
  const auto uncovered = co_await database_.read(
      [run_id](Connection& connection) { return checkpoint_store::uncovered_of(connection, run_id); });
  // An uncovered command may have changed the file after the recorded change.
  if (std::ranges::any_of(uncovered, [&](const UncoveredChange& each) { return is_within(path, each.path); }))
    co_return std::nullopt;
  std::optional<std::string> left;
  for (const auto& change : changes) {
    if (change.path == path) left = change.after.kind == EntryKind::file ? change.after.hash : std::nullopt;
  }
  co_return left;
}

Task<RunChanges> Checkpoints::changes(std::string run_id) {
  co_await results_stored();
  auto changes = co_await require_run(run_id);
  auto uncovered = co_await database_.read(
      [run_id](Connection& connection) { return checkpoint_store::uncovered_of(connection, run_id); });
  RunChanges shown{.run_id = run_id};
  shown.hosts = co_await database_.read(
      [run_id](Connection& connection) { return checkpoint_store::hosts_of(connection, run_id); });
  shown.changes =
      co_await blocking_.run([blobs = blobs_, changes = std::move(changes)] { return shown_changes(changes, *blobs); });
  shown.not_covered = std::move(uncovered);
  for (auto& each : shown.not_covered) each.path = to_utf8(each.path);
  co_return shown;
}

Checkpoints::Options checkpoint_options(const Settings& settings, const DataDirectory& directory) {
  constexpr std::uint64_t mebibyte = 1024 * 1024;
  const auto& configured = settings.checkpoints;
  return {.directory = directory.own / data_files::checkpoints,
          .file_bytes = static_cast<std::uint64_t>(configured.file_mib) * mebibyte,
          .total_bytes = static_cast<std::uint64_t>(configured.total_mib) * mebibyte,
          .kept = std::chrono::days(configured.days),
          .sandboxed = settings.sandbox == SandboxKind::bubblewrap};
}

}  // namespace agw
