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

/// The requests that wait for their answers, by id. On the loop.
class PendingRequests {
public:
  explicit PendingRequests(Loop& loop) : loop_(loop) {}

  /// One request that waits; forgotten with this.
  class Waiting {
  public:
    Waiting(PendingRequests& requests, std::int64_t id);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    /// Until the answer has come. A report of progress begins the time anew, `most` in all.
    /// So does time that `waits`, if any, has counted.
    Task<RpcResponse> response(std::chrono::milliseconds limit, std::chrono::milliseconds most, StopSource& stop,
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
  /// False where nobody waits for it.
  bool take(const RpcMessage& response);
  /// Heeds a report of progress.
  void note_progress(const RpcMessage& notification);
  /// Every request that waits, and every later one, has this for an answer.
  void fail_all(const std::string& problem);

private:
  [[no_unique_address]] ThreadChecker thread_;
  Loop& loop_;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, Waiting*> waiting_;
  std::string problem_;
};

}  // namespace agw
