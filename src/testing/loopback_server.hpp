#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/async_event.hpp"
#include "base/async/task.hpp"
#include "base/async/task_group.hpp"

namespace agw::testing {

/// A server on a free loopback port that sends the given bytes, one response for each request, whatever was requested.
/// It runs on the test's loop.
class LoopbackServer {
public:
  /// What follows the last response on its connection.
  enum class After { next_request, close, wait };

  /// Instead of a response: closes the connection.
  static inline const std::string hang_up = "hang up";

  LoopbackServer(Loop& loop, std::vector<std::string> responds, After after = After::next_request);

  std::string url(std::string_view path) const;
  /// The n-th request: head and body.
  const std::string& request(std::size_t number) const { return requests_.at(number); }
  std::size_t requests() const { return requests_.size(); }
  int connections() const { return connections_; }

  /// Waits until a client has closed a connection.
  Task<> closed_by_client() { return closed_by_client_.wait(); }
  /// Stops the server. Await it before its destruction.
  Task<> close();

private:
  Task<> accept();
  Task<> serve(asio::ip::tcp::socket socket);
  /// Reads one request; empty when the client has closed the connection.
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
