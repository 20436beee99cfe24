#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"

namespace agw {

class ProxiedNetwork;

/// Where an app's server listens: a loopback port of its sandbox's network, here or at another node of a cluster.
struct AppEndpoint {
  int port = 0;
  std::shared_ptr<ProxiedNetwork> network{};  ///< null: it runs without a sandbox, and listens on this host
  /// Connects by way of the node that runs it; empty: this one does. Throws ApiError 503.
  std::function<Task<std::optional<asio::ip::tcp::socket>>()> through{};
  int key_elsewhere = 0;  ///< less than zero, different for each app

  /// The key under which idle connections to it are kept.
  int key() const { return through ? key_elsewhere : port; }
};

/// A connection, by IPv4 or else by IPv6: development servers listen on `localhost`, which can be either. No value if
/// it is refused.
Task<std::optional<asio::ip::tcp::socket>> connect_to(AppEndpoint endpoint);

}  // namespace agw
