#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "api/error.hpp"
#include "features/events/hub.hpp"
#include "features/threads/service.hpp"
#include "storage/database.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw::testing::threads {

/// A clock that moves when a test says so.
struct HandClock : Clock {
  Timestamp time = Timestamp{std::chrono::milliseconds{1'767'322'984'000}};
  Timestamp now() const override { return time; }
};

/// The types of the events that were published, and the last message.
struct Heard : Reader {
  std::vector<std::string> types;
  std::string last;
  void deliver(const SharedEvent& event) override {
    types.push_back(event->type);
    last = event->text;
  }
};

/// The room with a real database and neighbours that know one agent (`builder`, id `agent-1`, which acts), one project
/// (`project-1`), and what a test says is in use.
struct Room {
  Room(Loop& of_test, const ScratchDirectory& directory)
      : loop(of_test),
        database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}),
        listening(hub, heard),
        threads(loop, database, hub, clock, links()) {}

  ThreadLinks links() {
    using Agent = ThreadLinks::Agent;
    return {.agent =
                [](std::string_view name) {
                  const bool known = name == "builder" || name == "agent-1";
                  return known ? std::optional(Agent{"agent-1", ThreadMode::act}) : std::nullopt;
                },
            .job_id =
                [](std::string_view name) {
                  return name == "nightly" ? std::optional<std::string>("job-1") : std::nullopt;
                },
            .project_exists = [](std::string_view id) { return id == "project-1"; },
            .thread_in_use = [this](std::string_view id) { return in_use.contains(id); },
            .turn_in_use = [this](std::string_view id) { return in_use.contains(id); },
            .active_run = [this](std::string_view) { return active_run; }};
  }

  Task<Turn> say(std::string thread_id, std::string content, Role role = Role::user) {
    return threads.add_turn({.thread_id = std::move(thread_id), .role = role, .content = std::move(content)});
  }

  Loop& loop;
  HandClock clock;
  Database database;
  Hub hub;
  Heard heard;
  Hub::Listening listening;
  std::set<std::string, std::less<>> in_use;
  std::optional<json::value> active_run;
  Threads threads;
};

inline void in_room(std::function<Task<>(Room&)> body) {
  run([&](Loop& loop) -> Task<> {
    const ScratchDirectory directory;
    Room room(loop, directory);
    co_await body(room);
  });
}

/// What ApiError the task ends with, as `<status> <error>`.
template <class T>
Task<std::string> failure(Task<T> task) {
  try {
    co_await std::move(task);
  } catch (const ApiError& error) {
    co_return std::to_string(error.status()) + " " + error.error();
  }
  co_return "none";
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
