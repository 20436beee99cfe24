#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/message_socket.hpp"
#include "features/client_tools/lender.hpp"
#include "features/runs/run_client.hpp"
#include "io/process/blocking.hpp"

namespace agw {

/// The programs that lend something to the runs that they start: tools that they run themselves, and the texts that an
/// editor has open. Each has a socket, and is gone with it. On the loop.
class ClientTools {
public:
  explicit ClientTools(BlockingPool& blocking) : blocking_(blocking) {}

  /// Serves the socket of a program until it is closed.
  Task<> serve(Request& request, MessageSocket& socket);

  /// The offer with that id, for a run that names it. Throws BadRequest `client tools not found`.
  std::shared_ptr<RunClient> lend(const std::string& id) const;

private:
  Task<json::object> parse(std::string text) const;
  Task<json::object> take(std::string text, Lender& lender, const std::string& id) const;

  BlockingPool& blocking_;
  std::map<std::string, std::shared_ptr<Lender>> lenders_;  ///< by id
};

}  // namespace agw
