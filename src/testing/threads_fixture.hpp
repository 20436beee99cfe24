#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "features/events/hub.hpp"
#include "features/extensions/built_ins.hpp"
#include "features/extensions/service.hpp"
#include "features/extensions/store.hpp"
#include "features/projects/service.hpp"
#include "features/projects/store.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "storage/database.hpp"
#include "testing/failure.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw::testing::threads {

using testing::failure;

/// A clock that only the test advances.
struct ManualClock : Clock {
  Timestamp time = Timestamp{std::chrono::milliseconds{1'767'322'984'000}};
  Timestamp now() const override { return time; }
};

/// The types of published events, and the last message to clients.
struct EventRecorder : Subscriber {
  std::vector<std::string> types;
  std::string last;
  void deliver(const DomainEvent& event) override {
    types.emplace_back(event.type);
    last = *event.message();
  }
};

/// Threads and their dependencies, with a real database, one agent (`builder`, id `agent-1`, in the mode `act`), one
/// job (`nightly`, id `job-1`) and one project (id `project-1`).
struct ThreadsFixture {
  ThreadsFixture(Loop& of_test, const ScratchDirectory& directory)
      : loop(of_test),
        database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}),
        listening(hub, heard),
        blocking(loop),
        filesystem(blocking, directory.path()),
        projects(database, filesystem, clock, directory.path()),
        runs(loop, database, hub, clock),
        extensions(database, hub, clock),
        threads(loop, database, hub, clock, projects, runs, extensions) {
    auto& connection = database.start_connection();
    extension_store::set_written_built_ins(connection, built_ins_content_id());
    extension_store::insert(connection, {.id = "agent-1",
                                         .type = ExtensionType::agent,
                                         .name = "builder",
                                         .definition = json::object{{"mode", "act"}},
                                         .enabled = true});
    extension_store::insert(connection, {.id = "job-1", .type = ExtensionType::job, .name = "nightly"});
    extensions.load(connection);
    project_store::insert(connection, {.id = "project-1", .name = "site", .path = "/home/ann/site"});
    projects.load(connection);
  }

  Task<Turn> say(std::string thread_id, std::string content, Role role = Role::user) {
    return threads.add_turn({.thread_id = std::move(thread_id), .role = role, .content = std::move(content)});
  }

  Loop& loop;
  ManualClock clock;
  Database database;
  Hub hub;
  EventRecorder heard;
  Hub::Listening listening;
  BlockingPool blocking;
  Filesystem filesystem;
  Projects projects;
  Runs runs;
  Extensions extensions;
  Threads threads;
};

inline void with_threads(std::function<Task<>(ThreadsFixture&)> body) {
  run([&](Loop& loop) -> Task<> {
    const ScratchDirectory directory;
    ThreadsFixture fixture(loop, directory);
    co_await body(fixture);
  });
}

template <class T>
std::vector<std::string> ids_of(const std::vector<T>& records) {
  std::vector<std::string> ids;
  for (const auto& record : records) ids.push_back(record.id);
  return ids;
}

template <class T>
std::vector<std::string> contents_of(const std::vector<T>& turns) {
  std::vector<std::string> contents;
  for (const auto& turn : turns) contents.push_back(turn.content);
  return contents;
}

}  // namespace agw::testing::threads
