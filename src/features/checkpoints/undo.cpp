// Undoes changes of files, and undoes the undo (redo).
//
// A *plan* (undo_plan.hpp) specifies for one path the changes to undo and the state to restore, or why the path is
// kept. The row of an undo is *settled* once it is known whether the path was changed. *Guarded* paths are those whose
// changes may not be the run's own (moved in, shared or earlier); only `force` undoes them.
//
// The invariant: an undo overwrites only what the run left, and stores what it overwrites, so that every undo can be
// redone. It never removes the only copy of content that the run moved. One undo runs at a time.
//
//   1. `settle`: for rows that a kill left unsettled, check whether the path was changed, and settle or withdraw them.
//   2. Group the run's changes by path and sort the paths: directories are created first, then files restored, then
//      files removed, then directories removed, innermost first.
//   3. For each path (`undo_path`): examine and plan, outside the loop; write the row, unsettled; rename the target to
//      the path, if that is still as examined; settle the row, or withdraw it.
//
// A kill before the rename leaves an unsettled row and a temporary file: the next start removes the file, and the next
// undo withdraws the row. A kill after it leaves an unsettled row for a changed path: the next undo settles the row. If
// the file system cannot exchange names, a kill while a directory is replaced by a file, or the reverse, can leave only
// the temporary file: the next start renames it to the path.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "base/text/utf8.hpp"
#include "features/checkpoints/entry_access.hpp"
#include "features/checkpoints/service.hpp"
#include "features/checkpoints/store.hpp"
#include "features/checkpoints/undo_plan.hpp"
#include "io/files/disk_full.hpp"

namespace agw {

/// The changes of a run to one path. An undo processes paths in the order of their rank, so that directories exist
/// before their contents are restored, moved content is restored before it is deleted, and directories are removed
/// last.
struct Checkpoints::PathChanges {
  enum class Rank { make_directories, restore_files, remove_files, remove_directories };

  std::string path;
  std::vector<StoredChange> changes;

  bool has_active() const { return std::ranges::any_of(changes, is_active); }
  bool was_undone() const {
    return std::ranges::any_of(changes, [](const StoredChange& change) {
      return change.kind == StoredChange::Kind::undo && !change.undone_by;
    });
  }
  Rank rank(StoredChange::Kind kind) const {
    AGW_ASSERT(!changes.empty());
    const auto* const goal = goal_of(changes, kind);
    if (goal && goal->kind == EntryKind::directory) return Rank::make_directories;
    if (changes.back().after.kind == EntryKind::directory) return Rank::remove_directories;
    return goal && goal->kind == EntryKind::absent ? Rank::remove_files : Rank::restore_files;
  }
};

namespace {

bool is_named(const std::string& path, const std::string& root, const std::vector<std::string>& names) {
  const auto shown = to_utf8(path);
  return std::ranges::any_of(names, [&](const std::string& name) {
    return name == path || name == shown ||
           (!name.empty() && (std::filesystem::path(root) / name).lexically_normal() == path);
  });
}

/// Whether the undo was carried out: the path no longer has the state that the undo found, or the undo changes nothing.
bool was_carried_out(const StoredChange& change, const StoredState& now) {
  return !now.is_same(change.before) || change.before.is_same(change.after);
}

/// The state that an undo found at a path, and its plan.
struct Examined {
  UndoPlan plan;
  std::shared_ptr<const EntryAccess> access;
  StoredState now;
  FileStamp present;
  std::uint64_t links = 0;
  EntryState target;
};

std::string text_of(const std::system_error& error) {
  return is_disk_full(error.code()) ? "disk full: nothing was changed" : error.what();
}

/// Loads the content to restore, and stores the present one, so that the undo can be undone. Returns why that is
/// impossible; empty on success.
std::string prepare_target(Examined& found, const EntryState& state, BlobStore& blobs) {
  AGW_ASSERT(found.plan.restores);
  AGW_ASSERT(!found.plan.undone.empty());
  const auto& target = found.plan.target;
  AGW_ASSERT(!target.has_content() || target.hash);
  found.target = {
      .kind = target.kind, .mode = target.mode, .modified_ns = target.modified_ns, .accessed_ns = target.accessed_ns};
  if (target.has_content()) {
    auto content = blobs.get(*target.hash);
    if (!content) return "its former content is no longer kept";
    found.target.content = std::move(*content);
  }
  if (!found.now.has_content()) return {};
  if (!state.has_content) return "too large to keep a copy of what is there now";
  blobs.put(state.content);
  return {};
}

constexpr auto only_copy = "the only copy of what the run moved here: where that was, it is not back";

struct UndoWay {
  bool redo = false;
  bool force = false;
};

/// Reads the path and makes the plan. `plan.restores` is true only if everything is prepared. Blocks.
Examined examine(const std::string& path, const std::vector<StoredChange>& changes, UndoWay way, BlobStore& blobs,
                 std::uint64_t limit) {
  Examined found;
  try {
    found.access = std::make_shared<EntryAccess>(EntryAccess::open(path));
    found.plan.reason = found.access->problem();
    if (!found.plan.reason.empty()) return found;
    auto state = found.access->read(limit);
    found.present = state.stamp;
    found.links = state.links;
    found.now = found.access->stored(state);
    found.plan = way.redo ? plan_redo(changes, found.now, way.force) : plan_undo(changes, found.now, way.force);
    if (!found.plan.restores) return found;
    const auto problem = prepare_target(found, state, blobs);
    if (problem.empty()) return found;
    found.plan.reason = problem;
  } catch (const std::system_error& error) {
    found.plan.reason = text_of(error);
  }
  found.plan.restores = false;
  AGW_ASSERT(!found.plan.reason.empty());
  return found;
}

/// Replaces the examined entry by the target, unless it has changed since. Returns why not; empty on success. Blocks.
std::string restore(const Examined& examined, const std::string& temporary) {
  AGW_ASSERT(examined.plan.restores);
  AGW_ASSERT(examined.access);
  AGW_ASSERT(!temporary.empty());
  try {
    if (examined.access->put(examined.target, examined.present, temporary)) return {};
    return examined.now.kind == EntryKind::directory ? "not empty" : std::string(changed_since);
  } catch (const std::system_error& error) {
    return text_of(error);
  }
}

/// Whether the file that an undo left has the content before or after the undo, or the beginning of the latter.
/// Otherwise another program replaced the file just before the kill, and the file must be kept.
bool is_of_undo(const StoredChange& undo, const EntryState& found, BlobStore& blobs) {
  const auto state = EntryAccess::stored(found);
  if (state.is_same(undo.before) || state.is_same(undo.after)) return true;
  if (found.kind != EntryKind::file || !found.has_content || !undo.after.hash) return false;
  const auto whole = blobs.get(*undo.after.hash);
  return whole && whole->starts_with(found.content);
}

/// Whether the undo was killed while it replaced a directory by a file, or the reverse, on a file system that cannot
/// exchange names: the temporary file is then the only one left.
bool is_half_done(const StoredChange& undo, const EntryAccess& access, const EntryState& found) {
  const auto state = EntryAccess::stored(found);
  const auto& file = undo.before.kind == EntryKind::directory ? undo.after : undo.before;
  const auto& directory = undo.before.kind == EntryKind::directory ? undo.before : undo.after;
  return directory.kind == EntryKind::directory && state.has_content() && state.is_same(file) &&
         access.read(0).kind == EntryKind::absent;
}

/// Removes the temporary file that a killed undo left next to the target, or renames it to the target if that is
/// missing. Blocks.
void remove_left_over(const StoredChange& undo, BlobStore& blobs, std::uint64_t limit) {
  AGW_ASSERT(!undo.settled);
  AGW_ASSERT(undo.kind != StoredChange::Kind::write);
  try {
    const auto access = EntryAccess::open(undo.path);
    const auto name = temporary_name_of(undo);
    const auto found = access.read_named(name, limit);
    if (found.kind == EntryKind::absent || !is_of_undo(undo, found, blobs)) return;
    if (is_half_done(undo, access, found)) access.take_from(name);
    access.remove_named(name);
  } catch (const std::system_error& error) {
    log::warn("cannot remove a temporary file of an interrupted undo: {}", error.what());
  }
}

}  // namespace

/// An undo or redo of a run's changes.
struct Checkpoints::Undoing {
  bool redo = false;
  bool force = false;
  std::map<std::string, PathChanges> by_path;              ///< all paths of the run
  std::map<std::string, std::string> guarded;              ///< paths that are kept without `force`, and why
  std::set<std::string> pending;                           ///< paths that are still to be undone
  std::multimap<std::string, const PathChanges*> by_goal;  ///< by the hash of the content to restore

  UndoWay way() const { return {.redo = redo, .force = force}; }
  StoredChange::Kind kind() const { return redo ? StoredChange::Kind::redo : StoredChange::Kind::undo; }

  /// Call it once `redo` is known.
  void find_goals() {
    AGW_ASSERT(by_goal.empty());
    for (const auto& [name, each] : by_path) {
      const auto* const goal = goal_of(each.changes, kind());
      if (goal && goal->has_content() && goal->hash) by_goal.emplace(*goal->hash, &each);
    }
  }

  /// Those of `names` that match no path that the run changed.
  std::vector<KeptFile> unknown(const std::vector<std::string>& names, const std::string& root) const {
    std::vector<KeptFile> none;
    for (const auto& name : names) {
      const auto is_it = [&](const auto& each) { return is_named(each.first, root, {name}); };
      if (!std::ranges::any_of(by_path, is_it) && !std::ranges::any_of(guarded, is_it))
        none.push_back({name, "the run did not change it"});
    }
    return none;
  }

  template <class IsWanted>
  bool is_redo(const IsWanted& is_wanted) const {
    bool was_undone = false;
    for (const auto& [name, path] : by_path) {
      if (!is_wanted(name)) continue;
      if (path.has_active()) return false;
      was_undone = true;
    }
    return was_undone;
  }

  /// The paths to undo, in the order of PathChanges.
  template <class IsWanted>
  std::vector<const PathChanges*> in_order(const IsWanted& is_wanted) {
    AGW_ASSERT(pending.empty());
    std::vector<const PathChanges*> order;
    for (const auto& [name, path] : by_path) {
      if (!is_wanted(name) || (redo ? !path.was_undone() : !path.has_active())) continue;
      order.push_back(&path);
      pending.insert(name);
    }
    std::ranges::sort(order, [this](const auto* one, const auto* other) {
      const auto rank = one->rank(kind());
      if (rank != other->rank(kind())) return rank < other->rank(kind());
      // Removes the innermost directory first.
      return rank == PathChanges::Rank::remove_directories ? one->path > other->path : one->path < other->path;
    });
    AGW_ASSERT(pending.size() == order.size());
    return order;
  }

  /// Whether this would remove the only copy of content that the run moved to the path: it is not back at its former
  /// path, and this undo will not restore it there.
  bool takes_only_copy(const std::string& path, const Examined& found, BlobStore& blobs, std::uint64_t limit) const {
    const auto& target = found.plan.target;
    if (!found.now.has_content() || found.present.size == 0 || found.links > 1) return false;
    const bool is_moved = target.kind == EntryKind::absent && target.hash;
    const auto content = is_moved ? target.hash : found.now.hash;
    if (!content || (target.has_content() && target.hash == content)) return false;
    bool has_place = is_moved;
    const auto [begin, end] = by_goal.equal_range(*content);
    for (auto each = begin; each != end; ++each) {
      const auto& [name, changes] = *each->second;
      if (name == path) continue;
      if (EntryAccess::open(name).now(limit).hash == content) return false;
      if (pending.contains(name) && examine(name, changes, way(), blobs, limit).plan.restores) return false;
      has_place = true;
    }
    return has_place;
  }

  /// Like `examine`, but also spares only copies. Blocks.
  Examined examined(const PathChanges& path, BlobStore& blobs, std::uint64_t limit) const {
    auto found = examine(path.path, path.changes, way(), blobs, limit);
    try {
      if (!found.plan.restores || !takes_only_copy(path.path, found, blobs, limit)) return found;
      found.plan.reason = only_copy;
    } catch (const std::system_error& error) {
      found.plan.reason = text_of(error);
    }
    found.plan.restores = false;
    return found;
  }
};

void Checkpoints::load(Connection& connection) {
  AGW_ASSERT(!unsettled_);
  unsettled_ = std::make_shared<const std::vector<StoredChange>>(checkpoint_store::unsettled(connection));
}

Task<> Checkpoints::recover() {
  const auto unsettled = std::exchange(unsettled_, nullptr);
  AGW_ASSERT(unsettled);
  if (unsettled->empty()) co_return;
  co_await blocking_.run([unsettled, blobs = blobs_, limit = options_.file_bytes] {
    for (const auto& undo : *unsettled) remove_left_over(undo, *blobs, limit);
  });
}

Task<UndoneFiles> Checkpoints::undo(std::string run_id, UndoFiles wanted) {
  auto changes = co_await require_run(run_id);
  for (const auto& active : runs_.all()) {
    if (active->run.id == run_id) throw Conflict("run is active");
  }
  const auto undoing = begin_undo();
  // Reads the rows again, because another undo may have changed them.
  changes = co_await database_.read(
      [run_id](Connection& connection) { return checkpoint_store::of_run(connection, run_id); });
  co_return co_await undo_all(run_id, std::move(changes), std::move(wanted), true);
}

std::shared_ptr<void> Checkpoints::begin_undo() {
  AGW_ASSERT(!unsettled_);
  if (is_undoing_) throw Conflict("another undo is running");
  is_undoing_ = true;
  return {nullptr, [this](void*) {
            AGW_ASSERT(is_undoing_);
            is_undoing_ = false;
          }};
}

Task<RewoundThread> Checkpoints::rewind(std::string thread_id, RewindThread wanted) {
  const auto turn = co_await threads_.require_turn(wanted.turn_id);
  if (wanted.files && runs_.thread_in_use(thread_id)) throw Conflict("thread is in use");
  const auto undoing = wanted.files ? begin_undo() : nullptr;
  RewoundThread rewound{co_await threads_.fork(thread_id, {.turnId = wanted.turn_id}), {}, {}};
  if (!wanted.files) co_return rewound;
  const auto later = co_await database_.read([thread_id, time = turn.created_at](Connection& connection) {
    return checkpoint_store::runs_after(connection, thread_id, time);
  });
  // Each path is reported once, even if several runs changed it.
  std::set<std::string> restored, kept;
  for (const auto& run_id : later) {
    auto changes = co_await database_.read(
        [run_id](Connection& connection) { return checkpoint_store::of_run(connection, run_id); });
    auto undone = co_await undo_all(run_id, std::move(changes), {}, false);
    for (auto& path : undone.restored) {
      if (restored.insert(path).second) rewound.restored.push_back(std::move(path));
    }
    for (auto& one : undone.kept) {
      if (kept.insert(one.path).second) rewound.kept.push_back(std::move(one));
    }
  }
  co_return rewound;
}

/// After a kill, the database may contain an undo that was not carried out in the file.
Task<> Checkpoints::settle(std::vector<StoredChange>& changes) {
  AGW_ASSERT(is_undoing_);
  for (auto& change : changes) {
    if (change.settled) continue;
    const bool happened = co_await blocking_.run([change, blobs = blobs_, limit = options_.file_bytes] {
      remove_left_over(change, *blobs, limit);
      const auto access = EntryAccess::open(change.path);
      return access.directory() ? was_carried_out(change, access.now(limit)) : change.after.kind == EntryKind::absent;
    });
    co_await database_.write([change, happened](Connection& connection) {
      if (happened) return checkpoint_store::settle(connection, change);
      checkpoint_store::withdraw(connection, change.number);
    });
  }
  if (std::ranges::all_of(changes, &StoredChange::settled)) co_return;
  changes = co_await database_.read([run_id = changes.front().run_id](Connection& connection) {
    return checkpoint_store::of_run(connection, run_id);
  });
}

Task<UndoneFiles> Checkpoints::undo_all(std::string run_id, std::vector<StoredChange> changes, UndoFiles wanted,
                                        bool may_redo) {
  AGW_ASSERT(is_undoing_);
  co_await results_stored();
  co_await settle(changes);
  const auto all = std::make_shared<Undoing>();
  all->force = wanted.force;
  const auto root = changes.empty() ? std::string() : changes.front().root;
  for (auto& change : changes) {
    AGW_ASSERT(change.run_id == run_id);
    auto& path = all->by_path[change.path];
    path.path = change.path;
    path.changes.push_back(std::move(change));
  }
  for (auto& each : co_await database_.read(
           [run_id](Connection& connection) { return checkpoint_store::uncovered_of(connection, run_id); })) {
    if (each.reason == moved_here || each.reason == shared_change || each.reason == earlier_change)
      all->guarded.emplace(std::move(each.path), std::move(each.reason));
  }
  const auto is_wanted = [&](const std::string& path) { return !wanted.paths || is_named(path, root, *wanted.paths); };
  UndoneFiles result{.restored = {}, .kept = all->unknown(wanted.paths.value_or(std::vector<std::string>()), root)};
  all->redo = all->is_redo(is_wanted);
  all->find_goals();
  if (!all->redo) {
    for (const auto& [path, reason] : all->guarded) {
      if (is_wanted(path) && !all->by_path.contains(path)) result.kept.push_back({to_utf8(path), reason});
    }
  }
  if (all->redo && !may_redo) co_return result;
  for (const auto* const path : all->in_order(is_wanted)) {
    bool restored = false;
    auto reason = co_await undo_path(all, *path, restored);
    all->pending.erase(path->path);
    if (restored) result.restored.push_back(to_utf8(path->path));
    if (!reason.empty()) result.kept.push_back({to_utf8(path->path), std::move(reason)});
  }
  AGW_ASSERT(all->pending.empty());
  co_return result;
}

Task<std::string> Checkpoints::undo_path(std::shared_ptr<const Undoing> all, const PathChanges& path, bool& restored) {
  AGW_ASSERT(is_undoing_);
  AGW_ASSERT(all->pending.contains(path.path));
  AGW_ASSERT(!path.changes.empty());
  const auto guarded = all->guarded.find(path.path);
  if (!all->redo && !all->force && guarded != all->guarded.end()) co_return guarded->second;
  const auto use = std::make_shared<BlobStore::Use>(*blobs_);
  const auto examined = co_await blocking_.run(
      [path, all, blobs = blobs_, limit = options_.file_bytes] { return all->examined(path, *blobs, limit); });
  if (!examined.plan.restores) co_return examined.plan.reason;
  const auto& first = path.changes.front();
  StoredChange row{.run_id = first.run_id,
                   .thread_id = first.thread_id,
                   .root = first.root,
                   .path = path.path,
                   .kind = examined.plan.kind,
                   .before = examined.now,
                   .after = examined.plan.target,
                   .created_at = clock_.now(),
                   .settled = false};
  row.number = co_await database_.write([row, undone = examined.plan.undone](Connection& connection) {
    return checkpoint_store::insert_undo(connection, row, undone);
  });
  AGW_ASSERT(row.number > 0);
  auto reason = co_await blocking_.run([examined, row] { return restore(examined, temporary_name_of(row)); });
  restored = reason.empty();
  co_await database_.write([row, restored](Connection& connection) {
    if (restored) return checkpoint_store::settle(connection, row);
    checkpoint_store::withdraw(connection, row.number);
  });
  co_return restored ? examined.plan.reason : reason;
}

}  // namespace agw
