#pragma once

#include <string>

#include "api/error.hpp"
#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "features/apps/dev_server.hpp"
#include "features/apps/service.hpp"

namespace agw {

inline NotFound not_running(const Extension& extension) {
  return NotFound("No running dev server for " + extension.name);
}

/// The server of an app, and a lock for starting and stopping it, both of which take time.
struct Apps::ServerSlot {
  ServerSlot(Apps& apps, std::string id)
      : server(apps.loop_, apps.clock_, apps.options_.limits,
               {.changed = [&apps, id] { apps.publish(id); },
                .started = [&apps](pid_t pid) { return apps.note_started(pid); },
                .ended = [&apps](pid_t pid) { return apps.note_ended(pid); }}),
        released(apps.loop_) {}

  /// Holds the lock from `acquire` to its destruction.
  class Lock {
  public:
    explicit Lock(ServerSlot& slot) : slot_(slot) { ++slot_.users; }
    ~Lock() {
      AGW_ASSERT(slot_.users > 0);
      AGW_ASSERT(!is_held_ || slot_.is_locked);
      --slot_.users;
      if (!is_held_) return;
      slot_.is_locked = false;
      slot_.released.pulse();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    Task<> acquire() {
      AGW_ASSERT(!is_held_);
      while (slot_.is_locked) {
        co_await slot_.released.wait();
      }
      is_held_ = slot_.is_locked = true;
    }

  private:
    ServerSlot& slot_;
    bool is_held_ = false;
  };

  DevServer server;
  AsyncEvent released;
  bool is_locked = false;
  int users = 0;         ///< number of callers that hold the lock or wait for it
  bool enabled = false;  ///< whether the extension was enabled at the last start
};

}  // namespace agw
