#pragma once

#include <list>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/group.hpp"
#include "io/descriptor.hpp"
#include "server/connection.hpp"
#include "server/read_watch.hpp"

namespace agw {

/// The listening socket, opened before anything else that depends on the port.
class Listener {
public:
  /// Throws StartError, saying what holds the port and what to do, when it cannot be bound.
  Listener(Loop& loop, const std::string& host, int port);

  int port() const { return port_; }
  /// `http://127.0.0.1:7420`
  std::string url(std::string_view scheme) const;
  asio::ip::tcp::acceptor& acceptor() { return acceptor_; }

private:
  std::string host_;
  asio::ip::tcp::acceptor acceptor_;
  int port_ = 0;
};

/// Accepts connections and serves them from one route table.
class Server {
public:
  struct Options {
    std::size_t connections = 16384;
    std::size_t body_limit = 10 * 1024 * 1024;
    const TlsContext* tls = nullptr;  ///< null: connections are not encrypted
  };

  Server(Loop& loop, BlockingPool& blocking, Listener listener, const Hosts& hosts, const Router& router,
         const Authenticator& authenticator, Idempotency& idempotency, Hub& hub, Metrics& metrics, Aftermath& aftermath,
         Subscription::RunsUnderWay runs_under_way, Options options);
  ~Server();

  void start();

  /// Accepts nothing more, lets requests under way be answered and WebSockets close with 1001, but waits no longer than
  /// `grace`; then cuts off who is left.
  Task<> stop(std::chrono::milliseconds grace);

  std::size_t connections() const { return connections_.size(); }
  const std::string& url() const { return url_; }

  /// Closes every WebSocket, as when the token was changed.
  void close_sockets();

private:
  using Connections = std::list<HttpConnection>;

  Task<> accept();
  Task<> serve(Descriptor socket);
  Task<> turn_away(Descriptor socket);
  void sweep_later();
  void sweep();

  Loop& loop_;
  Listener listener_;
  Gate gate_;
  SocketFlusher flusher_;
  ReadWatch watch_;
  std::string url_;
  ConnectionContext context_;
  Options options_;
  Connections connections_;
  asio::steady_timer sweep_timer_;
  bool sweeping_ = false;
  bool stopping_ = false;
  Group watching_;
  Group group_;
};

}  // namespace agw
