#include "api/socket_messages.hpp"

#include <utility>

namespace agw {

namespace {

Task<> read_from(MessageSocket& socket, std::optional<std::string>& message) { message = co_await socket.read(); }

}  // namespace

json::object parse_message(std::string_view text) { return message_object(parse_json(text)); }

json::object message_object(std::optional<json::value> parsed) {
  if (!parsed || !parsed->is_object()) throw BadRequest("a message must be a JSON object");
  return std::move(parsed->get_object());
}

json::object error_message(const ApiError& error) {
  return {{"type", "error"}, {"status", error.status()}, {"error", error.error()}};
}

Task<std::optional<std::string>> read_until(MessageSocket& socket, StopSource& left) {
  std::optional<std::string> message;
  co_await with_timeout(left, no_limit, read_from(socket, message));
  co_return message;
}

}  // namespace agw
