#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "features/integrations/rpc.hpp"

namespace agw {

/// The requests that wait for responses, by id. Used on the loop.
class PendingRequests {
public:
  explicit PendingRequests(Loop& loop) : loop_(loop) {}

  /// A registered request; unregistered by the destructor.
  class Waiting {
  public:
    Waiting(PendingRequests& requests, std::int64_t id);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    /// Waits for the response, for at most `limit`. A progress notification restarts `limit`, up to `max_total` in all.
    /// Time that `waits`, if any, counts does not count towards either.
    Task<RpcResponse> response(std::chrono::milliseconds limit, std::chrono::milliseconds max_total, StopSource& stop,
                               const WaitClock* waits = nullptr);

  private:
    friend class PendingRequests;
    PendingRequests& requests_;
    std::int64_t id_;
    AsyncEvent responded_;
    RpcResponse response_;
    bool progressed_ = false;
  };

  std::int64_t next_id() { return ++last_id_; }
  /// Delivers a response. Returns false if no request waits for it.
  bool take(const RpcMessage& response);
  /// Extends the wait that a progress notification refers to.
  void note_progress(const RpcMessage& notification);
  /// Fails all waiting and all later requests with `problem`.
  void fail_all(const std::string& problem);

private:
  ThreadChecker thread_;
  Loop& loop_;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, Waiting*> waiting_;
  std::string problem_;
};

}  // namespace agw
