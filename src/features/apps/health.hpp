#pragma once

#include <string>

#include "base/async/task.hpp"
#include "features/apps/endpoint.hpp"

namespace agw {

/// Whether the server responds to `path` with success or a redirect; for an empty path, whether it accepts connections.
/// Waits at most a few seconds.
Task<bool> is_healthy(AppEndpoint endpoint, std::string path);

/// Whether the port is free on this host.
bool is_free_port(int port);
/// A free port of this host. Throws std::system_error if there is none.
int free_port();

}  // namespace agw
