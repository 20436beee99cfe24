#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/json.hpp"
#include "base/task.hpp"
#include "cli/find_gateway.hpp"

namespace agw::cli {

/// A WebSocket that receives the events of one thread.
class EventStream {
public:
  /// Connects and subscribes; every event from then on comes. Throws std::runtime_error where the gateway refuses.
  static Task<std::unique_ptr<EventStream>> open(const FoundGateway& gateway, std::string thread_id);
  ~EventStream();

  /// The next message, or nothing once the connection is gone.
  Task<std::optional<json::object>> next();

private:
  struct Socket;
  explicit EventStream(std::unique_ptr<Socket> socket);

  std::unique_ptr<Socket> socket_;
};

}  // namespace agw::cli
