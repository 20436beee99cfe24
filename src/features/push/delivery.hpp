#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/push/sender.hpp"
#include "features/push/types.hpp"

namespace agw {

/// Sends notices in the background, one after the other for each subscription, so that a slow push service delays only
/// its own notices. Notices are not kept when the gateway ends, because old ones are of no use.
class PushDelivery {
public:
  /// How it reads and updates subscriptions.
  struct Subscriptions {
    /// Returns the subscription if it exists and its person should be notified now.
    std::function<std::optional<PushTarget>(const std::string& id)> reachable;
    std::function<Task<>(std::string id, PushAttempt attempt)> attempted;
  };
  struct Limits {
    std::size_t waiting = 16;  ///< notices per subscription; the oldest are dropped
    int attempts = 4;
    /// Between attempts, if the service specifies none. Each next pause is six times as long.
    std::chrono::milliseconds first_pause{5'000};
    std::chrono::milliseconds max_pause{3'600'000};
  };

  PushDelivery(Loop& loop, PushSender& sender, Subscriptions subscriptions, Limits limits);

  /// Replaces a waiting notice of the same topic.
  void queue(const std::string& id, PushNotice notice);
  /// Drops the waiting notices of the subscription, and cancels the one that is being sent.
  void drop(const std::string& id);
  Task<> stop();

private:
  struct Line {
    explicit Line(std::string of) : id(std::move(of)) {}

    const std::string id;
    std::deque<PushNotice> waiting;
    StopSource stop;
  };
  using LinePointer = std::shared_ptr<Line>;

  Task<> work(LinePointer line);
  Task<> deliver(LinePointer line, PushNotice notice);
  std::chrono::milliseconds pause_after(const PushAttempt& attempt, int attempts) const;

  Loop& loop_;
  PushSender& sender_;
  Subscriptions subscriptions_;
  Limits limits_;
  std::map<std::string, LinePointer, std::less<>> lines_;
  bool stopping_ = false;
  TaskGroup group_;
};

}  // namespace agw
