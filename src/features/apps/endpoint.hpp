#pragma once

#include <memory>
#include <optional>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"

namespace agw {

class ProxiedNetwork;

/// Where an app's server listens: a loopback port of its sandbox's network.
struct AppEndpoint {
  int port = 0;
  std::shared_ptr<ProxiedNetwork> network{};  ///< null: it runs without a sandbox, and listens on this host
};

/// A connection, by IPv4 or else by IPv6: development servers listen on `localhost`, which can be either. No value if
/// it is refused.
Task<std::optional<asio::ip::tcp::socket>> connect_to(AppEndpoint endpoint);

}  // namespace agw
