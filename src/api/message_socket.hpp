#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"

namespace agw {

class Request;

/// A WebSocket for a handler that reads and writes its messages. The server handles frames, pings and the handshakes.
/// Used on the loop; valid while the handler runs.
class MessageSocket {
public:
  virtual ~MessageSocket() = default;

  /// The client's next message, in UTF-8; nullopt once the socket is closed and all messages that came before were
  /// read. Call it from one coroutine at a time.
  virtual Task<std::optional<std::string>> read() = 0;
  /// Queues a message. A client that reads too slowly is disconnected.
  virtual void send(std::string_view message) = 0;
  /// Requested when the socket is closed or about to be closed.
  virtual StopSource& stop_source() = 0;
};

/// Serves the socket opened by `request`. The server closes it when the handler returns.
using SocketHandler = std::function<Task<>(Request& request, MessageSocket& socket)>;

}  // namespace agw
