#include "server/upgrade.hpp"

#include "api/refusals.hpp"
#include "server/response.hpp"
#include "server/websocket_frame.hpp"

namespace agw {

namespace {

constexpr std::string_view supported_version = "13";

/// A body would be read as frames.
bool has_body(const Head& head) { return head.chunked || head.content_length.value_or(0) > 0; }

bool asks_well(const Head& head) {
  return head.names("connection", "upgrade") && head.count("sec-websocket-version") == 1 &&
         head.count("sec-websocket-key") == 1 && !has_body(head);
}

}  // namespace

std::variant<std::string, Answer> open_websocket(const Head& head, const Target& target, const Gate& gate) {
  if (!gate.authorises_socket(head, target)) return error_answer(unauthorized());
  if (target.bad_query) return error_answer(invalid_query());
  if (head.field("sec-websocket-version").value_or(supported_version) != supported_version) {
    auto answer = error_answer(426, "unsupported WebSocket version");
    answer.headers = {{"Sec-WebSocket-Version", std::string(supported_version)}, {"Upgrade", "websocket"}};
    return answer;
  }
  const auto key = websocket::accept_key(head.field("sec-websocket-key").value_or(""));
  if (!key || !asks_well(head)) return error_answer(400, "malformed WebSocket upgrade");
  std::string response =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + *key +
      "\r\n";
  if (token_of_subprotocol(head)) response += "Sec-WebSocket-Protocol: bearer\r\n";
  return response + "\r\n";
}

}  // namespace agw
