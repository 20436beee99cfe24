#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/message_socket.hpp"
#include "base/async/cancellation.hpp"
#include "base/json/json.hpp"

namespace agw {

/// The object in a client's message. Throws BadRequest.
json::object parse_message(std::string_view text);
/// The object in a message that has been parsed already; nullopt: it is no JSON. Throws BadRequest.
json::object message_object(std::optional<json::value> parsed);

/// The answer to a wrong message.
json::object error_message(const ApiError& error);

/// Returns the client's next message; nullopt once the socket is closed or `left` is requested.
Task<std::optional<std::string>> read_until(MessageSocket& socket, StopSource& left);

}  // namespace agw
