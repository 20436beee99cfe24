#pragma once

#include <chrono>
#include <list>
#include <optional>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/async/task.hpp"

namespace agw {

/// Idle connections to the servers of apps, kept for further requests, because a page makes many requests at once. They
/// are kept only for a short time: a server that serves one connection at a time waits until each is closed.
class IdleConnections {
public:
  static constexpr std::size_t max_per_port = 8;
  static constexpr std::size_t max_total = 64;

  explicit IdleConnections(Loop& loop, std::chrono::milliseconds limit = std::chrono::seconds{1})
      : limit_(limit), timer_(loop) {}

  /// Takes a connection to the server with the key `port` (AppEndpoint::key) that the server has neither closed nor
  /// written to; no value if there is none.
  std::optional<asio::ip::tcp::socket> take(int port);
  /// Adds a connection, and closes an older one if there are too many.
  void add(int port, asio::ip::tcp::socket socket);
  /// Closes the connections to `port`. Call it before its server ends.
  void close_port(int port);
  /// Closes all connections, and every one that is added later.
  void close();
  std::size_t size() const { return idle_.size(); }

private:
  struct Idle {
    int port;
    std::chrono::steady_clock::time_point end;
    asio::ip::tcp::socket socket;
  };
  void schedule_cleanup();
  void close_expired();
  void assert_invariants() const;

  const std::chrono::milliseconds limit_;
  std::list<Idle> idle_;  ///< oldest first
  asio::steady_timer timer_;
  bool is_scheduled_ = false;
  bool closed_ = false;
};

}  // namespace agw
