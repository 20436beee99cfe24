#pragma once

#include <string>

#include "base/async/task.hpp"
#include "cli/client/find_gateway.hpp"
#include "cli/client/gateway_stream.hpp"

namespace agw::cli {

/// `127.0.0.1:7420`, for the `Host` of a request.
std::string host_and_port(const FoundGateway& gateway);

/// Opens a connection. Throws std::runtime_error that names the gateway if it does not accept one, or if the server's
/// certificate is not that of the gateway that holds the lock.
Task<GatewayStream> connect(const FoundGateway& gateway);

}  // namespace agw::cli
