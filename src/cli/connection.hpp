#pragma once

#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "base/task.hpp"
#include "cli/find_gateway.hpp"

namespace agw::cli {

/// `127.0.0.1:7420`, for the `Host` of a request.
std::string host_and_port(const FoundGateway& gateway);

/// A fresh connection. Throws std::runtime_error that names the gateway where it does not take one.
Task<asio::ip::tcp::socket> connect(const FoundGateway& gateway);

}  // namespace agw::cli
