#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/async_event.hpp"
#include "base/async/task.hpp"
#include "base/async/task_group.hpp"

namespace agw::testing {

/// A server on a free loopback port that sends the given responses, one per request, whatever is requested. Runs on the
/// test's loop.
class LoopbackServer {
public:
  /// What the connection does after the last response.
  enum class After { next_request, close, wait };

  /// A pseudo-response that closes the connection.
  static inline const std::string hang_up = "hang up";

  LoopbackServer(Loop& loop, std::vector<std::string> responds, After after = After::next_request);

  std::string url(std::string_view path) const;
  /// The head and body of the request with this number.
  const std::string& request(std::size_t number) const { return requests_.at(number); }
  std::size_t requests() const { return requests_.size(); }
  int connections() const { return connections_; }

  /// Waits until a client has closed a connection.
  Task<> closed_by_client() { return closed_by_client_.wait(); }
  /// Stops the server. Must be awaited before the destruction.
  Task<> close();

private:
  Task<> accept();
  Task<> serve(asio::ip::tcp::socket socket);
  /// Reads one request; empty if the client has closed the connection.
  Task<std::string> read_request(asio::ip::tcp::socket& socket, std::string& buffer);

  asio::ip::tcp::acceptor acceptor_;
  std::vector<std::string> responses_;
  After after_;
  std::vector<std::string> requests_;
  std::size_t responded_ = 0;
  int connections_ = 0;
  AsyncEvent closed_by_client_;
  TaskGroup group_;
};

}  // namespace agw::testing
