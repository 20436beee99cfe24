#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/message_socket.hpp"
#include "features/client_tools/lender.hpp"
#include "features/runs/run_client.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// Programs that lend something to the runs that they start: tools that they run themselves, and the texts of open
/// files in an editor. Each has a socket, and is removed when that is closed. Used on the loop.
class ClientTools {
public:
  explicit ClientTools(BlockingPool& blocking) : blocking_(blocking) {}

  /// Serves the socket of a program until it is closed.
  Task<> serve(Request& request, MessageSocket& socket);

  /// Returns the offer with that id, for a run. Throws BadRequest `client tools not found`.
  std::shared_ptr<RunClient> lend(const std::string& id) const;

private:
  Task<json::object> parse(std::string text) const;
  Task<json::object> take(std::string text, Lender& lender, const std::string& id) const;

  BlockingPool& blocking_;
  std::map<std::string, std::shared_ptr<Lender>> lenders_;  ///< by id
};

}  // namespace agw
