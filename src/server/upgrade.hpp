#pragma once

#include <string>
#include <variant>

#include "api/answer.hpp"
#include "server/gate.hpp"
#include "server/head.hpp"
#include "server/target.hpp"

namespace agw {

/// What a request for a WebSocket gets (RFC 6455, 4.2): the response that opens it, or a refusal. Its host and its
/// origin were judged before.
std::variant<std::string, Answer> open_websocket(const Head& head, const Target& target, const Gate& gate);

}  // namespace agw
