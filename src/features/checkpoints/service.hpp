#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "base/time/time.hpp"
#include "features/checkpoints/blob_store.hpp"
#include "features/checkpoints/command_changes.hpp"
#include "features/checkpoints/types.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "io/process/blocking.hpp"
#include "storage/database.hpp"
#include "tools/file_recorder.hpp"

namespace agw {

struct DataDirectory;
struct Route;
struct Settings;
struct StoredChange;

/// Records the changes that runs make to files: stores the previous contents, shows the changes, and undoes them. An
/// undo never deletes what the run did not create, and never overwrites what the run did not write. Used on the loop.
/// Example: src/features/checkpoints/service_test.cpp: Checkpoints.UndoBringsBackWhatTheRunReplaced
class Checkpoints : public FileRecorder {
public:
  struct Options {
    std::filesystem::path directory;  ///< of the contents
    std::uint64_t file_bytes = 10 * 1024 * 1024;
    std::uint64_t total_bytes = 500 * 1024 * 1024;
    std::chrono::days kept{30};
    std::chrono::nanoseconds unchanged = std::chrono::seconds(2);  ///< ListingLimits::unchanged
    bool sandboxed = true;  ///< commands can write only to the directories that they are given
  };
  Checkpoints(Loop& loop, BlockingPool& blocking, Database& database, const Clock& clock, Runs& runs, Threads& threads,
              Options options);

  /// Reads the records that `recover` needs.
  void load(Connection& connection);
  /// Removes the temporary files that undos left in projects when the gateway was killed. Call it after `load` and
  /// before any undo.
  Task<> recover();
  /// Begins to delete old records and contents in the background, until `stop`.
  void start();
  Task<> stop();

  std::size_t max_file_size() const override { return options_.file_bytes; }
  Task<> before_write(const ToolRun& run, PlannedWrite write) override;
  Task<> after_write(std::shared_ptr<const EntryState> after, std::shared_ptr<const void> former) override;
  Task<std::shared_ptr<CommandListing>> before_command(const ToolRun& run,
                                                       std::vector<std::filesystem::path> writable) override;
  Task<> after_command(const ToolRun& run, std::shared_ptr<CommandListing> before) override;

  Task<> record_uncovered(const ToolRun& run, std::string path, std::string reason) override;
  /// Throws NotFound `run not found`.
  Task<> record_hosts(const ToolRun& run, std::vector<ContactedHost> hosts) override;

  /// The SHA-256 in hex of the content that the run left in a file; no value if no such change is recorded.
  Task<std::optional<std::string>> content_left(std::string run_id, std::string path);

  Task<RunChanges> changes(std::string run_id);
  /// Throws NotFound `run not found`.
  Task<> require(std::string run_id);
  /// Undoes the run's changes to the chosen paths; if all of these were already undone, redoes them. Throws NotFound
  /// `run not found`, Conflict if the run is active or another undo is running.
  Task<UndoneFiles> undo(std::string run_id, UndoFiles wanted);
  /// Forks the thread at a turn, and undoes the changes of its runs after that turn, latest first. Throws NotFound,
  /// Conflict if the thread is in use or another undo is running.
  Task<RewoundThread> rewind(std::string thread_id, RewindThread wanted);

private:
  struct PathChanges;
  struct Undoing;
  struct ListedTrees;
  class PendingResult;

  Task<std::vector<StoredChange>> require_run(std::string run_id);
  Task<> forget_old();
  Task<std::vector<std::int64_t>> record(StoredChange change, std::vector<std::filesystem::path> new_directories,
                                         std::optional<UncoveredChange> uncovered, std::function<void()> on_recorded);
  Task<> require_kept(StartedWork<std::string>& kept, const std::vector<std::int64_t>& numbers);
  Task<> store_result(std::shared_ptr<const EntryState> after, std::shared_ptr<const void> former,
                      std::shared_ptr<PendingResult> pending);
  /// Waits until the results of all writes so far are stored.
  Task<> results_stored();
  std::shared_ptr<void> begin_undo();
  Task<UndoneFiles> undo_all(std::string run_id, std::vector<StoredChange> changes, UndoFiles wanted, bool may_redo);
  Task<> settle(std::vector<StoredChange>& changes);
  Task<std::string> undo_path(std::shared_ptr<const Undoing> all, const PathChanges& path, bool& restored);
  void link_concurrent(ListedTrees& listed);

  BlockingPool& blocking_;
  Database& database_;
  const Clock& clock_;
  Runs& runs_;
  Threads& threads_;
  const Options options_;
  std::shared_ptr<BlobStore> blobs_;
  std::shared_ptr<CommandObserver> observer_;
  std::vector<std::weak_ptr<ListedTrees>> commands_;  ///< active commands
  std::shared_ptr<const std::vector<StoredChange>> unsettled_;
  StopSource stopping_;
  std::uint64_t next_result_ = 0;
  std::set<std::uint64_t> pending_results_;
  AsyncEvent result_stored_;
  bool is_undoing_ = false;
  TaskGroup background_;
};

/// The routes of `/runs/:id/changes`, `/runs/:id/undo` and `/threads/:id/rewind`.
std::vector<Route> checkpoint_routes(Checkpoints& checkpoints, Threads& threads);

/// The options that follow from the configuration.
Checkpoints::Options checkpoint_options(const Settings& settings, const DataDirectory& directory);

}  // namespace agw
