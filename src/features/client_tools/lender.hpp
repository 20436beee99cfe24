#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/message_socket.hpp"
#include "features/client_tools/types.hpp"

namespace agw {

/// A program that lends tools while its socket is open. Runs may refer to it for longer.
class Lender {
public:
  explicit Lender(MessageSocket& socket) : socket_(&socket) {}

  const LentTools& lent() const { return lent_; }
  void offer(LentTools lent) { lent_ = std::move(lent); }

  /// Sends a request and waits for its result. Returns nullopt if the socket was closed, `stop` was requested, or 15
  /// minutes have passed. The program is notified when a request is cancelled.
  Task<std::optional<json::object>> ask(json::object request, StopSource& stop);
  /// Handles a message `result`. Returns false if no request waits for it.
  bool take_result(json::object message);
  /// Called when the socket was closed.
  void leave();

private:
  struct Asked {
    StopSource answered;
    std::optional<json::object> result;
  };

  MessageSocket* socket_;  ///< null once it is closed
  LentTools lent_;
  std::map<std::string, std::shared_ptr<Asked>> asked_;  ///< by `callId`
  std::int64_t last_ = 0;
};

}  // namespace agw
