#include "server/websocket/event_socket.hpp"

#include <chrono>
#include <utility>

namespace agw {

EventSocket::EventSocket(Loop& loop, SocketStream& stream, WebSocketFlusher& flusher, Hub& hub,
                         Subscription::ActiveRuns active_runs)
    : WebSocket(loop, stream, flusher), hub_(hub), subscription_(std::move(active_runs)) {}

/// No coroutine: its frame would stay as long as each idle socket.
Task<> EventSocket::serve(std::string first_bytes) {
  listening_.emplace(hub_, *this);
  return run(std::move(first_bytes));
}

void EventSocket::deliver(const DomainEvent& event) {
  if (!closing() && subscription_.matches(event)) queue_text(event.message());
}

bool EventSocket::is_shown_on(std::string_view device) const {
  return !closing() && subscription_.is_shown_on(device, std::chrono::steady_clock::now());
}

}  // namespace agw
