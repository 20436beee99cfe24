#pragma once

#include <optional>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"

namespace agw {

/// A connection to this machine's `port`, by IPv4 or else by IPv6: development servers listen on `localhost`, which can
/// be either. No value if it is refused.
Task<std::optional<asio::ip::tcp::socket>> connect_to_loopback(int port);

/// Whether the server at this machine's `port` answers `path` with a success or a redirect; with an empty path, whether
/// it takes connections. Waits at most a few seconds.
Task<bool> is_healthy(int port, std::string path);

/// Whether the port is free.
bool is_free_port(int port);
/// A free port. Throws std::system_error if there is none.
int free_port();

}  // namespace agw
