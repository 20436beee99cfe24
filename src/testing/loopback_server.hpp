#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/group.hpp"
#include "base/task.hpp"

namespace agw::testing {

/// A server on a free loopback port that reads requests and answers each with the next of the given bytes, whatever
/// was asked. It lives on the test's own loop.
class LoopbackServer {
public:
  /// What follows the last answer on its connection.
  enum class After { next_request, close, wait };

  /// Instead of an answer: the connection ends.
  static inline const std::string hang_up = "hang up";

  LoopbackServer(Loop& loop, std::vector<std::string> answers, After after = After::next_request);

  std::string url(std::string_view path) const;
  /// The n-th request as it came: head and body.
  const std::string& request(std::size_t number) const { return requests_.at(number); }
  std::size_t requests() const { return requests_.size(); }
  int connections() const { return connections_; }

  /// Waits until a client has closed a connection.
  Task<> closed_by_client();
  /// Ends everything. Await it before the server dies.
  Task<> close();

private:
  Task<> accept();
  Task<> serve(asio::ip::tcp::socket socket);
  /// Reads one request; nothing when the client has gone.
  Task<std::string> read_request(asio::ip::tcp::socket& socket, std::string& buffer);

  asio::ip::tcp::acceptor acceptor_;
  std::vector<std::string> answers_;
  After after_;
  std::vector<std::string> requests_;
  std::size_t answered_ = 0;
  int connections_ = 0;
  bool closed_by_client_ = false;
  asio::steady_timer closed_signal_;
  Group group_;
};

}  // namespace agw::testing
