#pragma once

#include <cstdio>
#include <functional>

#include "base/async/task_group.hpp"
#include "features/events/hub.hpp"
#include "features/extensions/service.hpp"
#include "features/projects/service.hpp"
#include "features/runs/service.hpp"
#include "features/threads/service.hpp"
#include "storage/database.hpp"

namespace agw::bench {

/// Runs `body` with the threads of a data directory, without the rest of the gateway. Every agent's name is its id.
inline int with_threads(const std::string& directory, std::function<Task<>(Threads&, Database&)> body) {
  Loop loop;
  Database database(loop, {.file = directory + "/gateway.db", .backups = directory + "/backups"});
  Hub hub;
  SystemClock clock;
  BlockingPool blocking(loop);
  Filesystem filesystem(blocking, directory);
  Projects projects(database, filesystem, clock, directory);
  Runs runs(loop, database, hub, clock);
  Extensions extensions(database, hub, clock);
  Threads threads(loop, database, hub, clock, projects, runs, extensions);
  TaskGroup group(loop);
  int status = 0;
  group.on_failure([&](std::exception_ptr failure) {
    status = 1;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  });
  group.spawn(body(threads, database));
  loop.run();
  return status;
}

}  // namespace agw::bench
