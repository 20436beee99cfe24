#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "cli/client/find_gateway.hpp"

namespace agw::cli {

/// A WebSocket to the gateway that exchanges JSON messages.
class MessageStream {
public:
  /// Connects. Throws std::runtime_error if the gateway refuses.
  static Task<std::unique_ptr<MessageStream>> open(const FoundGateway& gateway, std::string path);
  ~MessageStream();

  /// The next message, or nullopt if the connection is closed.
  Task<std::optional<json::object>> next();
  /// Sends a message; call it for one message at a time. Returns false if the connection is closed.
  Task<bool> send(std::string message);

private:
  struct Socket;
  explicit MessageStream(std::unique_ptr<Socket> socket);

  std::unique_ptr<Socket> socket_;
};

}  // namespace agw::cli
