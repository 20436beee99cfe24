#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/events/hub.hpp"
#include "features/events/subscription.hpp"
#include "server/websocket/web_socket.hpp"

namespace agw {

/// Sends a client the events that it subscribed to, in order, and never blocks the publisher.
class EventSocket : public WebSocket, public Subscriber {
public:
  EventSocket(Loop& loop, SocketStream& stream, WebSocketFlusher& flusher, Hub& hub,
              Subscription::ActiveRuns active_runs);

  Task<> serve(std::string first_bytes) override;

  void deliver(const DomainEvent& event) override;
  bool awaits(std::string_view) const override { return true; }
  bool is_shown_on(std::string_view device) const override;
  bool answers(std::string_view thread_id) const override { return !closing() && subscription_.answers(thread_id); }

private:
  void received(std::string text) override { queue_text(subscription_.take(text)); }

  Hub& hub_;
  Subscription subscription_;
  std::optional<Hub::Listening> listening_;  ///< from `serve` on
};

}  // namespace agw
