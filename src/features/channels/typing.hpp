#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/channels/messenger.hpp"

namespace agw {

/// Shows people in chats that an agent is at work there. If the service does not take it, nothing else is affected.
class ChannelTyping {
public:
  /// `chats` returns those in which it is to be shown now.
  ChannelTyping(Loop& loop, Messenger& messenger, StopSource& stop, std::function<std::set<ChatPlace>()> chats);

  /// Must be called whenever `chats` may return others than before.
  void update();
  Task<> join() { return group_.join(); }

private:
  Task<> work();
  /// Makes the call that is due first, or waits for its time. Returns false if there is nothing more to do.
  Task<bool> step();

  Messenger& messenger_;
  StopSource& stop_;
  std::function<std::set<ChatPlace>()> chats_;
  std::map<ChatPlace, std::chrono::steady_clock::time_point> shown_;  ///< when to show it again
  AsyncEvent changed_;
  bool is_active_ = false;
  TaskGroup group_;
};

}  // namespace agw
