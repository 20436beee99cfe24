#pragma once

#include <functional>
#include <string>
#include <vector>

#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "storage/database.hpp"
#include "testing/failure.hpp"
#include "testing/run.hpp"
#include "testing/scratch_directory.hpp"

namespace agw::testing::extensions {

using testing::failure;

/// A clock that only the test advances.
class FixedClock : public Clock {
public:
  Timestamp now() const override { return time; }
  Timestamp time = *parse_iso8601("2026-01-02T03:04:05.678Z");
};

/// Published events, in order: messages to clients, and changes as `<event> <extension>`.
class ChangeRecorder : public Subscriber {
public:
  void deliver(const DomainEvent& event) override {
    if (!event.type.empty()) events.push_back(*event.message());
    if (const auto* extension = event.record.as<Extension>()) changes.push_back(event.name + " " + extension->name);
  }
  std::vector<std::string> events;
  std::vector<std::string> changes;
};

/// Whether agents and jobs have directories that are kept in step with their records.
enum class Directories { none, followed };

/// The service with a database in `directory`, from the gateway's start to its stop.
struct ExtensionsFixture {
  ExtensionsFixture(Loop& loop, const ScratchDirectory& directory, Directories directories = Directories::none)
      : database(loop, {.file = directory.path() / "gateway.db", .backups = directory.path() / "backups"}),
        listening(hub, heard),
        outbox(loop, database, directory.path()),
        extensions(database, hub, clock, directories == Directories::followed ? &outbox : nullptr) {
    extensions.load(database.start_connection());
  }

  FixedClock clock;
  Database database;
  Hub hub;
  ChangeRecorder heard;
  Hub::Listening listening;
  ExtensionOutbox outbox;
  Extensions extensions;
};

inline json::object object(std::string_view text) { return parse_json(text)->as_object(); }

/// The body of a POST that creates a theme.
inline json::object theme(std::string_view name) {
  return {{"type", "theme"}, {"name", name}, {"description", "d"}, {"definition", json::object{}}};
}

inline json::object with(json::object body, std::string_view member, json::value value) {
  body[member] = std::move(value);
  return body;
}

inline std::vector<std::string> names_of(const std::vector<ExtensionPointer>& extensions) {
  std::vector<std::string> names;
  names.reserve(extensions.size());
  for (const auto& extension : extensions) names.push_back(extension->name);
  return names;
}

inline Task<> rename(Extensions& extensions, std::string id, std::string name) {
  co_await extensions.change(std::move(id), {{"name", name}});
}

inline Task<> body_in_room(std::function<Task<>(ExtensionsFixture&)> body, Loop& loop) {
  const ScratchDirectory directory;
  ExtensionsFixture fixture(loop, directory);
  co_await body(fixture);
}

inline void with_extensions(std::function<Task<>(ExtensionsFixture&)> body) {
  run([body](Loop& loop) { return body_in_room(body, loop); });
}

/// The part of a test before or after a restart; `kept` passes values from the first part to the second.
using Part = std::function<Task<>(ExtensionsFixture&, std::string& kept)>;

inline Task<> parts_over_a_restart(Part first, Part second, Loop& loop) {
  const ScratchDirectory directory;
  std::string kept;
  {
    ExtensionsFixture fixture(loop, directory);
    co_await first(fixture, kept);
  }
  ExtensionsFixture fixture(loop, directory);
  co_await second(fixture, kept);
}

/// Runs `first`, stops the service, starts it again on the files left by `first`, and runs `second`.
inline void over_a_restart(Part first, Part second) {
  run([first, second](Loop& loop) { return parts_over_a_restart(first, second, loop); });
}

}  // namespace agw::testing::extensions
