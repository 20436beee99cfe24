#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/error.hpp"
#include "base/text/is_within.hpp"
#include "features/checkpoints/service.hpp"
#include "features/checkpoints/store.hpp"
#include "io/files/disk_full.hpp"

namespace agw {

/// The directories that a command can write.
struct Checkpoints::ListedTrees : CommandListing {
  explicit ListedTrees(std::shared_ptr<BlobStore> store) : blobs(std::move(store)), use(*blobs) {}

  std::shared_ptr<BlobStore> blobs;
  BlobStore::Use use;  ///< until the changes are recorded
  std::vector<std::shared_ptr<TreeListing>> trees;
  std::int64_t last_change = 0;  ///< of any run, before the command
};

namespace {

constexpr std::size_t rows_at_once = 200;

std::vector<std::filesystem::path> outermost(std::vector<std::filesystem::path> directories) {
  std::ranges::sort(directories);
  std::vector<std::filesystem::path> kept;
  for (auto& directory : directories) {
    if (kept.empty() || !is_within(directory, kept.back())) kept.push_back(std::move(directory));
  }
  return kept;
}

}  // namespace

Task<std::shared_ptr<CommandListing>> Checkpoints::before_command(const ToolRun& run,
                                                                  std::vector<std::filesystem::path> writable) {
  auto listed = std::make_shared<ListedTrees>(blobs_);
  listed->last_change = co_await database_.read(checkpoint_store::last_number);
  co_await blocking_.run([listed, observer = observer_, roots = run.roots, trees = outermost(std::move(writable))] {
    try {
      for (const auto& tree : trees) listed->trees.push_back(observer->before(tree, roots));
    } catch (const std::system_error& error) {
      throw InsufficientStorage(
          fmt::format("{}: the command was not run, because what it could overwrite could not be kept",
                      is_disk_full(error) ? "disk full" : error.what()));
    }
  });
  co_await database_.write([run_id = run.run_id, listed, now = clock_.now()](Connection& connection) {
    for (const auto& tree : listed->trees)
      checkpoint_store::begin_command(connection, run_id, tree->root.string(), now);
  });
  co_return listed;
}

Task<> Checkpoints::after_command(const ToolRun& run, std::shared_ptr<CommandListing> before) {
  const auto listed = std::static_pointer_cast<ListedTrees>(before);
  auto found = co_await blocking_.run([listed, observer = observer_, roots = run.roots] {
    CommandChanges all;
    for (const auto& tree : listed->trees) {
      auto changes = observer->after(*tree, roots);
      std::ranges::move(changes.changes, std::back_inserter(all.changes));
      std::ranges::move(changes.uncovered, std::back_inserter(all.uncovered));
    }
    return all;
  });
  if (!options_.sandboxed) found.uncovered.push_back({"/", "commands run without the sandbox can change all files"});
  const auto now = clock_.now();
  for (auto& change : found.changes) {
    change.run_id = run.run_id;
    change.thread_id = run.thread_id;
    change.root = run.roots.working_directory().string();
    change.created_at = now;
  }
  for (std::size_t i = 0; i < found.changes.size(); i += rows_at_once) {
    const auto some = std::span(found.changes).subspan(i, std::min(rows_at_once, found.changes.size() - i));
    co_await database_.write(
        [rows = std::vector(some.begin(), some.end()), last = listed->last_change](Connection& connection) {
          for (const auto& row : rows) {
            if (!checkpoint_store::is_of_other_run(connection, row, last)) checkpoint_store::insert(connection, row);
          }
        });
  }
  co_await database_.write([run_id = run.run_id, uncovered = std::move(found.uncovered), now](Connection& connection) {
    checkpoint_store::end_command(connection, run_id);
    for (const auto& each : uncovered) checkpoint_store::insert_uncovered(connection, run_id, each, now);
  });
}

}  // namespace agw
