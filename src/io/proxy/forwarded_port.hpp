#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"

namespace agw {

/// A loopback port of this host, for IPv4 and IPv6, whose connections are forwarded to a server elsewhere, such as the
/// same port in a sandbox's network. A connection is reset if that server does not accept it. Use it on the loop only.
/// Example: src/io/proxy/forwarded_port_test.cpp: ForwardedPort.PassesOnConnections
class ForwardedPort {
public:
  /// Connects to the server; nullopt if it does not accept the connection.
  using Connect = std::function<Task<std::optional<asio::ip::tcp::socket>>()>;

  /// Reserves the port. Connections are refused until `open`. Throws boost::system::system_error if it is in use.
  ForwardedPort(Loop& loop, std::uint16_t port, Connect connect);
  ~ForwardedPort();

  /// Accepts connections from now on. Call it once. Throws like the constructor.
  void open();
  /// Releases the port and ends all connections. Await it before the destruction if the port was opened.
  Task<> close();

private:
  struct Pair;
  using PairPointer = std::shared_ptr<Pair>;
  void reserve(const asio::ip::tcp::endpoint& endpoint);
  Task<> accept_all(asio::ip::tcp::acceptor& acceptor);
  Task<> serve(PairPointer pair);
  static Task<> pump(PairPointer pair, bool inward);

  Loop& loop_;
  Connect connect_;
  std::vector<asio::ip::tcp::acceptor> acceptors_;
  std::size_t pairs_ = 0;
  AsyncEvent pair_ended_;
  TaskGroup connections_;
};

}  // namespace agw
