#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "features/checkpoints/service.hpp"
#include "features/checkpoints/store.hpp"
#include "features/checkpoints/undo_plan.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/filesystem/service.hpp"
#include "features/projects/service.hpp"
#include "features/threads/service.hpp"
#include "testing/file_clock.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"
#include "tools/files/write_target.hpp"

namespace agw::testing {

/// A clock with a constant time.
class UnmovedClock : public Clock {
public:
  Timestamp now() const override { return *parse_iso8601("2026-01-02T03:04:05.678Z"); }
};

/// The service with a database and a project, whose agents change files as the tool Write does.
struct CheckpointsFixture {
  explicit CheckpointsFixture(Loop& loop) : loop(loop) { std::filesystem::create_directories(project); }

  Task<> write(const std::string& run_id, const std::string& name, std::string content) {
    const ToolRun run{.run_id = run_id, .thread_id = "t", .agent_name = "helper", .roots = roots};
    const auto file = WriteTarget(project / name, roots);
    const auto before = std::make_shared<const EntryState>(file.state(checkpoints.max_file_size()));
    const auto after = std::make_shared<const EntryState>(file.state_with(std::move(content)));
    co_await checkpoints.before_write(run, {.path = file.path(),
                                            .before = {before},
                                            .after = {after},
                                            .new_directories = file.new_directories(),
                                            .on_recorded = on_recorded});
    if (killed_before_rename) co_return;
    const auto made = file.prepare(*after);
    file.replace(*made, before->stamp);
    co_await checkpoints.after_write(after, made);
  }
  /// Runs `work` as a command of the run.
  Task<> command(std::string run_id, std::function<void()> work) {
    const auto as_task = [work = std::move(work)]() -> Task<> {
      work();
      co_return;
    };
    co_await command_with(std::move(run_id), as_task);
  }
  /// The same for asynchronous work.
  Task<> command_with(std::string run_id, std::function<Task<>()> work) {
    // Existing files must be older than the command.
    advance_file_clock();
    const ToolRun run{.run_id = run_id, .thread_id = "t", .agent_name = "helper", .roots = roots};
    auto listing = co_await checkpoints.before_command(run, {project});
    co_await work();
    co_await checkpoints.after_command(run, std::move(listing));
  }
  /// Waits until new files get a later time. Takes some milliseconds.
  static void advance_file_clock() { testing::advance_file_clock(); }
  Task<UndoneFiles> undo(const std::string& run_id, UndoFiles wanted = {}) {
    return checkpoints.undo(run_id, std::move(wanted));
  }
  /// Records the undo of the run's first change, as if the process was killed before the file was moved into place.
  /// Returns the name of the file.
  Task<std::string> killed_undo(std::string run_id) {
    const auto undo = co_await database.write([run_id](Connection& connection) {
      auto row = checkpoint_store::of_run(connection, run_id).at(0);
      row.kind = StoredChange::Kind::undo;
      std::swap(row.before, row.after);
      row.settled = false;
      const auto undone = std::exchange(row.number, 0);
      row.number = checkpoint_store::insert_undo(connection, row, {undone});
      return row;
    });
    co_return temporary_name_of(undo);
  }
  /// Recovers as at a start.
  Task<> recover() {
    co_await database.read([this](Connection& connection) { checkpoints.load(connection); });
    co_await checkpoints.recover();
  }
  void edit(const std::string& name, const std::string& content) const { std::ofstream(project / name) << content; }
  std::string text(const std::string& name) const {
    std::ifstream file(project / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool exists(const std::string& name) const {
    return std::filesystem::exists(std::filesystem::symlink_status(project / name));
  }
  std::string shown(const std::string& name) const { return (project / name).string(); }

  Loop& loop;
  ScratchDirectory scratch;
  std::filesystem::path project = std::filesystem::canonical(scratch.path()) / "home/site";
  FileRoots roots{.home = std::filesystem::canonical(scratch.path()) / "home",
                  .data_directory = std::filesystem::canonical(scratch.path()) / "data",
                  .agent = "helper",
                  .project = project};
  UnmovedClock clock;
  Hub hub;
  BlockingPool blocking{loop};
  Database database{loop, {.file = scratch.path() / "gateway.db", .backups = scratch.path() / "backups"}};
  Runs runs{loop, database, hub, clock};
  Filesystem filesystem{blocking, roots.home};
  Projects projects{database, filesystem, clock, roots.data_directory};
  Extensions extensions{database, hub, clock};
  Threads threads{loop, database, hub, clock, projects, runs, extensions};
  Checkpoints checkpoints{
      loop,
      blocking,
      database,
      clock,
      runs,
      threads,
      {.directory = scratch.path() / "checkpoints", .file_bytes = 100'000, .unchanged = std::chrono::nanoseconds(0)}};
  bool killed_before_rename = false;
  std::function<void()> on_recorded = [] {};
};

inline void with_fixture(std::function<Task<>(CheckpointsFixture&)> body,
                         std::chrono::seconds limit = std::chrono::seconds(20)) {
  run(
      [body](Loop& loop) -> Task<> {
        CheckpointsFixture fixture(loop);
        co_await body(fixture);
        co_await fixture.checkpoints.stop();
      },
      limit);
}

}  // namespace agw::testing
