#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "cli/client/find_gateway.hpp"

namespace agw::cli {

/// A WebSocket that receives the events of one thread.
class EventStream {
public:
  /// Connects and subscribes; receives every event from then on. `approvals`: a person answers here, so agents may ask.
  /// Throws std::runtime_error if the gateway refuses.
  static Task<std::unique_ptr<EventStream>> open(const FoundGateway& gateway, std::string thread_id,
                                                 bool approvals = false);
  ~EventStream();

  /// The next message, or nullopt when the connection is closed.
  Task<std::optional<json::object>> next();

private:
  struct Socket;
  explicit EventStream(std::unique_ptr<Socket> socket);

  std::unique_ptr<Socket> socket_;
};

}  // namespace agw::cli
