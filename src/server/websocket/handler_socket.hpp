#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "api/message_socket.hpp"
#include "api/request.hpp"
#include "base/async/async_event.hpp"
#include "server/websocket/web_socket.hpp"

namespace agw {

/// The WebSocket of a route, whose handler reads and writes the messages. While a message is unread, no further bytes
/// are read from the client.
class HandlerSocket : public WebSocket, public MessageSocket {
public:
  HandlerSocket(Loop& loop, SocketStream& stream, WebSocketFlusher& flusher, Request request,
                std::size_t message_limit);

  Task<> serve(std::string first_bytes) override;

  Task<std::optional<std::string>> read() override;
  void send(std::string_view message) override { queue_text(message); }
  StopSource& stop_source() override { return stop_source_; }

private:
  void received(std::string text) override;
  Task<> ready_for_more() override;
  void closed() override;
  Task<> handle();

  Request request_;
  std::deque<std::string> unread_;
  AsyncEvent changed_;  ///< pulsed when a message arrived or was read, and when the socket closes
  StopSource stop_source_;
  TaskGroup handling_;
};

}  // namespace agw
