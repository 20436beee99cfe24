#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"

namespace agw {

class Request;

/// A WebSocket for a handler that reads and writes its messages. Frames, pings and the handshakes are the server's.
/// Used on the loop; valid while the handler runs.
class MessageSocket {
public:
  virtual ~MessageSocket() = default;

  /// The client's next message, in UTF-8; nullopt once the socket is closed. One coroutine at a time.
  virtual Task<std::optional<std::string>> read() = 0;
  /// Queues a message. A client that has too much to read is disconnected.
  virtual void send(std::string_view message) = 0;
  /// Requested once the socket is closed, or is about to be.
  virtual StopSource& stop_source() = 0;
};

/// Serves the socket that `request` opened. The server closes it once the handler returns.
using SocketHandler = std::function<Task<>(Request& request, MessageSocket& socket)>;

}  // namespace agw
