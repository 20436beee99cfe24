#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/log.hpp"
#include "base/text/is_within.hpp"
#include "features/checkpoints/service.hpp"
#include "features/checkpoints/store.hpp"
#include "io/files/disk_full.hpp"

namespace agw {

namespace {

/// The start and end of a command, by the clock of the file system.
struct CommandTime {
  std::int64_t began = file_clock_now();
  std::int64_t ended = std::numeric_limits<std::int64_t>::max();

  bool has(std::int64_t moment) const { return began <= moment && moment <= ended; }
  bool is_over() const { return ended != std::numeric_limits<std::int64_t>::max(); }
};

}  // namespace

/// The trees that a command can write, as listed before it.
struct Checkpoints::ListedTrees : CommandListing {
  ListedTrees(std::string run, std::shared_ptr<BlobStore> store)
      : run_id(std::move(run)), blobs(std::move(store)), use(*blobs) {}

  bool overlaps(const ListedTrees& other) const {
    return std::ranges::any_of(trees, [&](const auto& one) {
      return std::ranges::any_of(other.trees, [&](const auto& another) {
        return is_within(one->root, another->root) || is_within(another->root, one->root);
      });
    });
  }

  const std::string run_id;
  std::shared_ptr<CommandTime> time = std::make_shared<CommandTime>();
  std::vector<std::shared_ptr<const CommandTime>> others;  ///< concurrent commands of other runs in the same trees

  std::shared_ptr<BlobStore> blobs;
  BlobStore::Use use;  ///< protects the contents until the changes are recorded
  std::vector<std::shared_ptr<const TreeListing>> trees;
  std::int64_t last_change = 0;  ///< number of the last change of any run before the command
};

namespace {

constexpr std::size_t rows_at_once = 200;

std::vector<std::filesystem::path> outermost(std::vector<std::filesystem::path> directories) {
  std::ranges::sort(directories);
  std::vector<std::filesystem::path> kept;
  for (auto& directory : directories) {
    if (kept.empty() || !is_within(directory, kept.back())) kept.push_back(std::move(directory));
  }
  AGW_ASSERT(kept.empty() == directories.empty());
  return kept;
}

/// Adds what the command changed in the tree. If that cannot be found out, only says so: the command has run.
void add_changes(CommandChanges& all, CommandObserver& observer, const TreeListing& tree, const FileRoots& roots,
                 Origins& origins) {
  try {
    auto changes = observer.after(tree, roots, origins);
    std::ranges::move(changes.changes, std::back_inserter(all.changes));
    std::ranges::move(changes.uncovered, std::back_inserter(all.uncovered));
  } catch (const std::system_error& error) {
    log::warn("what a command changed in {} is not recorded: {}", tree.root.string(), error.what());
    all.uncovered.push_back({tree.root.string(), "it could not be listed after a command"});
  }
}

/// Whether a command of another run may have made the change.
bool is_shared(const CommandChange& change, const std::vector<std::shared_ptr<const CommandTime>>& others) {
  return std::ranges::any_of(
      others, [&](const auto& other) { return change.changed_ns == 0 || other->has(change.changed_ns); });
}

/// The content before the run of the path that an entry was moved from. An undo deletes the moved entry only if this
/// content is back.
std::optional<std::string> content_before_run(Connection& connection, const CommandChange& change) {
  AGW_ASSERT(change.before.kind == EntryKind::absent);
  if (change.moved_from.empty()) return std::nullopt;
  const auto former = checkpoint_store::before_run(connection, change.run_id, change.moved_from);
  return former ? former->hash : change.moved_hash;
}

/// The state of a file after changes by other runs that happened after the listing. No value if the listing already
/// shows their changes, or later ones, which may be a person's.
std::optional<StoredState> left_by_others(const std::vector<StoredChange>& others, const StoredState& listed) {
  AGW_ASSERT(!others.empty());
  const bool listed_before =
      std::ranges::any_of(others, [&](const StoredChange& other) { return other.before.is_same(listed); });
  return listed_before ? std::optional(others.back().after) : std::nullopt;
}

/// Records a change, from the state that other runs may have left during the command.
void insert_change(Connection& connection, CommandChange change, std::int64_t last_before) {
  AGW_ASSERT(!change.run_id.empty());
  AGW_ASSERT(last_before >= 0);
  const auto name = [&](std::string_view reason) {
    checkpoint_store::insert_uncovered(connection, change.run_id, {change.path, std::string(reason)},
                                       change.created_at);
  };
  const auto others = checkpoint_store::of_other_runs(connection, change, last_before);
  if (!others.empty()) {
    name("another run changed it while a command ran");
    if (const auto left = left_by_others(others, change.before)) change.before = *left;
    const bool has_mode = change.after.has_content();
    if (change.before.is_same(change.after) && (!has_mode || change.before.mode == change.after.mode)) return;
  } else if (change.is_shared) {
    name(shared_change);
  }
  if (change.before.kind == EntryKind::absent) change.before.hash = content_before_run(connection, change);
  checkpoint_store::insert(connection, change);
}

}  // namespace

/// Registers commands of other runs that overlap with this command in time and in their trees, and it with them.
void Checkpoints::link_concurrent(ListedTrees& listed) {
  AGW_ASSERT(listed.others.empty());
  std::erase_if(commands_, [](const auto& each) { return each.expired(); });
  for (const auto& each : commands_) {
    const auto other = each.lock();
    // A thread of the pool may release it at any moment.
    if (!other) continue;
    AGW_ASSERT(other.get() != &listed);
    const bool is_over = other->time->ended < listed.time->began;
    if (is_over || other->run_id == listed.run_id || !listed.overlaps(*other)) continue;
    listed.others.push_back(other->time);
    other->others.push_back(listed.time);
  }
}

Task<std::shared_ptr<CommandListing>> Checkpoints::before_command(const ToolRun& run,
                                                                  std::vector<std::filesystem::path> writable) {
  auto listed = std::make_shared<ListedTrees>(run.run_id, blobs_);
  listed->last_change = co_await database_.read(checkpoint_store::last_number);
  co_await blocking_.run([listed, observer = observer_, roots = run.roots, trees = outermost(std::move(writable))] {
    try {
      for (const auto& tree : trees) listed->trees.push_back(observer->before(tree, roots));
    } catch (const std::system_error& error) {
      throw InsufficientStorage(
          fmt::format("{}: the command was not run, because what it could overwrite could not be kept",
                      is_disk_full(error.code()) ? "disk full" : error.what()));
    }
  });
  co_await database_.write([run_id = run.run_id, listed, now = clock_.now()](Connection& connection) {
    for (const auto& tree : listed->trees)
      checkpoint_store::begin_command(connection, run_id, tree->root.string(), now);
  });
  link_concurrent(*listed);
  listed->time->began = file_clock_now();
  commands_.push_back(listed);
  co_return listed;
}

Task<> Checkpoints::after_command(const ToolRun& run, std::shared_ptr<CommandListing> before) {
  AGW_ASSERT(before);
  const auto listed = std::static_pointer_cast<ListedTrees>(before);
  AGW_ASSERT(listed->run_id == run.run_id);
  AGW_ASSERT(!listed->time->is_over());
  listed->time->ended = file_clock_now();
  auto found = co_await blocking_.run([listed, observer = observer_, roots = run.roots] {
    CommandChanges all;
    Origins origins(listed->trees, listed->time->began);
    for (const auto& tree : listed->trees) add_changes(all, *observer, *tree, roots, origins);
    return all;
  });
  if (!options_.sandboxed) found.uncovered.push_back({"/", "commands run without the sandbox can change all files"});
  const auto now = clock_.now();
  for (auto& change : found.changes) {
    change.run_id = run.run_id;
    change.thread_id = run.thread_id;
    change.root = run.roots.working_directory().string();
    change.created_at = now;
    change.is_shared = is_shared(change, listed->others);
  }
  for (std::size_t i = 0; i < found.changes.size(); i += rows_at_once) {
    const auto some = std::span(found.changes).subspan(i, std::min(rows_at_once, found.changes.size() - i));
    co_await database_.write(
        [rows = std::vector(some.begin(), some.end()), last = listed->last_change](Connection& connection) {
          for (const auto& row : rows) insert_change(connection, row, last);
        });
  }
  co_await database_.write([run_id = run.run_id, uncovered = std::move(found.uncovered), now](Connection& connection) {
    checkpoint_store::end_command(connection, run_id);
    for (const auto& each : uncovered) checkpoint_store::insert_uncovered(connection, run_id, each, now);
  });
}

}  // namespace agw
