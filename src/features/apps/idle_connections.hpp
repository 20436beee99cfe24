#pragma once

#include <chrono>
#include <list>
#include <optional>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/task.hpp"

namespace agw {

/// Connections to servers of apps that were answered and may take another request, for a short time: a page asks for
/// much at once and then for nothing, and a server that serves one connection at a time waits for the end of each.
class IdleConnections {
public:
  static constexpr std::size_t most_for_one_port = 8;
  static constexpr std::size_t most_of_all = 64;

  explicit IdleConnections(Loop& loop, std::chrono::milliseconds limit = std::chrono::seconds{1})
      : limit_(limit), timer_(loop) {}

  /// One to this machine's `port` that the server has left open and silent; nothing where there is none.
  std::optional<asio::ip::tcp::socket> take(int port);
  /// Keeps it, and closes an older one where there are too many.
  void keep(int port, asio::ip::tcp::socket socket);
  /// Closes those to `port`, because its server is to end.
  void forget(int port);
  /// Closes all, and every one that is to be kept from now on.
  void close();
  std::size_t size() const { return idle_.size(); }

private:
  struct Idle {
    int port;
    std::chrono::steady_clock::time_point end;
    asio::ip::tcp::socket socket;
  };
  void watch();
  void drop_old();

  const std::chrono::milliseconds limit_;
  std::list<Idle> idle_;  ///< oldest first
  asio::steady_timer timer_;
  bool watching_ = false;
  bool closed_ = false;
};

}  // namespace agw
