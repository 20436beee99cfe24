#pragma once

#include <string>
#include <variant>

#include "api/response.hpp"
#include "io/http/head.hpp"
#include "server/http/gate.hpp"
#include "server/http/target.hpp"

namespace agw {

/// Handles a WebSocket handshake (RFC 6455, 4.2) whose host and origin were checked: returns the bytes of the response
/// that opens it, or an error.
std::variant<std::string, Response> open_websocket(const Head& head, const Target& target, const Gate& gate);

}  // namespace agw
