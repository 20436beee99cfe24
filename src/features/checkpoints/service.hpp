#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/async/task_group.hpp"
#include "base/time/time.hpp"
#include "features/checkpoints/blob_store.hpp"
#include "features/checkpoints/types.hpp"
#include "features/runs/service.hpp"
#include "io/process/blocking.hpp"
#include "storage/database.hpp"
#include "tools/file_recorder.hpp"

namespace agw {

struct StoredChange;

/// What runs changed in files: keeps the former contents, shows the changes, and undoes them. It never deletes what the
/// run did not create, and never overwrites what the run did not write. On the loop.
/// Example: src/features/checkpoints/service_test.cpp: Checkpoints.UndoBringsBackWhatTheRunReplaced
class Checkpoints : public FileRecorder {
public:
  struct Options {
    std::filesystem::path directory;  ///< of the contents
    std::uint64_t file_bytes = 10 * 1024 * 1024;
    std::uint64_t total_bytes = 500 * 1024 * 1024;
    std::chrono::days kept{30};
  };
  Checkpoints(Loop& loop, BlockingPool& blocking, Database& database, const Clock& clock, Runs& runs, Options options);

  Task<> stop();

  std::size_t largest_file() const override { return options_.file_bytes; }
  Task<> before_write(const ToolRun& run, PlannedWrite write) override;

  /// Throws NotFound `run not found`.
  Task<RunChanges> changes(std::string run_id);
  /// Undoes what the run changed; if all that is chosen was undone before, makes those changes again. Throws NotFound
  /// `run not found`, Conflict if the run is active or another undo is running.
  Task<UndoneFiles> undo(std::string run_id, UndoFiles wanted);

private:
  struct PathChanges;
  struct Examined;

  Task<std::vector<StoredChange>> require_run(std::string run_id);
  Task<> keep_result(std::shared_ptr<const std::string> content);
  Task<UndoneFiles> undo_all(std::vector<StoredChange> changes, UndoFiles wanted);
  Task<> settle(std::vector<StoredChange>& changes);
  Task<std::string> undo_path(const PathChanges& path, bool redo, bool force, bool& restored);

  BlockingPool& blocking_;
  Database& database_;
  const Clock& clock_;
  Runs& runs_;
  const Options options_;
  std::shared_ptr<BlobStore> blobs_;
  bool is_undoing_ = false;
  TaskGroup background_;
};

}  // namespace agw
