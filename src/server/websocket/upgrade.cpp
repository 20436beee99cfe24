#include "api/refusals.hpp"
#include "api/route.hpp"
#include "io/http/head.hpp"
#include "server/http/gate.hpp"
#include "server/http/response.hpp"
#include "server/http/target.hpp"
#include "server/websocket/web_socket.hpp"
#include "server/websocket/websocket_frame.hpp"

namespace agw {

namespace {

constexpr std::string_view supported_version = "13";

/// A body would be parsed as frames.
bool has_body(const Head& head) { return head.chunked || head.content_length.value_or(0) > 0; }

bool is_valid_upgrade(const Head& head) {
  return head.has_token("connection", "upgrade") && head.count("sec-websocket-version") == 1 &&
         head.count("sec-websocket-key") == 1 && !has_body(head);
}

}  // namespace

std::variant<std::string, Response> open_websocket(const Head& head, const Target& target, const Gate& gate,
                                                   const Route* route) {
  if (!gate.authorizes_websocket(head, target)) return error_response(unauthorized());
  if (target.bad_query) return error_response(invalid_query());
  if (head.field("sec-websocket-version").value_or(supported_version) != supported_version) {
    auto response = error_response(426, "unsupported WebSocket version");
    response.headers = {{"Sec-WebSocket-Version", std::string(supported_version)}, {"Upgrade", "websocket"}};
    return response;
  }
  const auto key = websocket::accept_key(head.field("sec-websocket-key").value_or(""));
  if (!key || !is_valid_upgrade(head)) return error_response(400, "malformed WebSocket upgrade");
  if (route && route->socket && route->refusal) {
    if (const auto refusal = route->refusal()) return error_response(*refusal);
  }
  std::string response =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + *key +
      "\r\n";
  if (subprotocol_token(head)) response += "Sec-WebSocket-Protocol: bearer\r\n";
  return response + "\r\n";
}

}  // namespace agw
