#pragma once

#include <cstdio>
#include <functional>

#include "base/group.hpp"
#include "features/events/hub.hpp"
#include "features/threads/service.hpp"
#include "storage/database.hpp"

namespace agw::bench {

/// Runs `body` with the threads of a data directory, without the rest of a gateway. Every agent's name is its id.
inline int with_threads(const std::string& directory, std::function<Task<>(Threads&, Database&)> body) {
  Loop loop;
  Database database(loop, {.file = directory + "/gateway.db", .backups = directory + "/backups"});
  Hub hub;
  SystemClock clock;
  Threads threads(loop, database, hub, clock,
                  {.agent = [](std::string_view) { return std::nullopt; },
                   .job_id = [](std::string_view) { return std::nullopt; },
                   .project_exists = [](std::string_view) { return false; },
                   .thread_in_use = [](std::string_view) { return false; },
                   .turn_in_use = [](std::string_view) { return false; },
                   .active_run = [](std::string_view) { return std::nullopt; }});
  Group group(loop);
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
