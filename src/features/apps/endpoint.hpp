#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"

namespace agw {

class ProxiedNetwork;

/// The address of an app's server: a loopback port in its sandbox's network, on this or another node of a cluster.
struct AppEndpoint {
  int port = 0;
  std::shared_ptr<ProxiedNetwork> network{};  ///< null: it runs without a sandbox, and listens on this host
  /// Connects through the node that runs the server; empty: this node runs it. Throws ApiError 503.
  std::function<Task<std::optional<asio::ip::tcp::socket>>()> through{};
  int key_elsewhere = 0;  ///< the key of a server on another node: negative, unique for each app

  /// The key of idle connections to the server.
  int key() const { return through ? key_elsewhere : port; }
};

/// Connects by IPv4, or else by IPv6, because development servers listen on `localhost`, which can be either. No value
/// if the connection is refused.
Task<std::optional<asio::ip::tcp::socket>> connect_to(AppEndpoint endpoint);

}  // namespace agw
