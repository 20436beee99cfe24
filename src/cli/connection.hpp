#pragma once

#include <string>

#include "base/task.hpp"
#include "cli/find_gateway.hpp"
#include "cli/gateway_stream.hpp"

namespace agw::cli {

/// `127.0.0.1:7420`, for the `Host` of a request.
std::string host_and_port(const FoundGateway& gateway);

/// A fresh connection. Throws std::runtime_error that names the gateway where it does not take one, or where whoever
/// answers shows another certificate than the gateway that holds the lock.
Task<GatewayStream> connect(const FoundGateway& gateway);

}  // namespace agw::cli
