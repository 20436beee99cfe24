#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/message_socket.hpp"
#include "features/client_tools/types.hpp"

namespace agw {

/// A program that lends tools, for as long as its socket is open. Runs may hold it for longer.
class Lender {
public:
  explicit Lender(MessageSocket& socket) : socket_(&socket) {}

  const LentTools& lent() const { return lent_; }
  void offer(LentTools lent) { lent_ = std::move(lent); }

  /// Sends a request, and waits for its result; nullopt if the program has gone, or does not answer until `stop` is
  /// requested or 15 minutes have passed. It then learns that the request is over.
  Task<std::optional<json::object>> ask(json::object request, StopSource& stop);
  /// Takes a message `result`. False if nothing waits for it.
  bool take_result(json::object message);
  /// The socket is closed.
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
