#pragma once

#include <optional>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "base/task.hpp"

namespace agw {

/// A connection to this machine's `port`, by IPv4 or else by IPv6: development servers listen on `localhost`, which can
/// be either. Nothing where nobody takes it.
Task<std::optional<asio::ip::tcp::socket>> connect_to_loopback(int port);

/// Whether the server at this machine's `port` answers `path` with a success or a redirect; with an empty path, whether
/// it takes connections. Waits for an answer a few seconds at most.
Task<bool> is_healthy(int port, std::string path);

/// Whether nobody listens there.
bool is_free_port(int port);
/// One that nobody listens at. Throws std::system_error where there is none.
int free_port();

}  // namespace agw
