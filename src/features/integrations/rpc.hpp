#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/wait_clock.hpp"
#include "base/json/json.hpp"

namespace agw {

class FilledSecrets;

/// A JSON-RPC error object.
struct RpcError {
  std::int64_t code = 0;
  std::string message;
  json::value data;
};

/// A received JSON-RPC message. Invalid UTF-8 is replaced, because servers truncate text inside characters. A response
/// that cannot be parsed, or has neither a result nor an error, gets an error from the gateway.
struct RpcMessage {
  enum class Kind { request, notification, response, invalid };
  Kind kind = Kind::invalid;
  json::value id{};
  std::string method{};
  json::object params{};
  json::object result{};
  std::optional<RpcError> error{};
};
RpcMessage read_rpc(std::string_view text);

/// Removes the secrets from a response that is an error, or whose result reports one.
void hide_in_errors(RpcMessage& response, const FilledSecrets& secrets);
/// Removes the secrets from any response.
void hide_in_response(RpcMessage& response, const FilledSecrets& secrets);

/// The outcome of a request: either an error, or a human-readable problem (no usable response), or the result.
struct RpcResponse {
  json::object result{};
  std::optional<RpcError> error{};
  std::string problem{};
  bool timed_out = false;
  bool session_lost = false;  ///< the server no longer knows the session: start a new one
  int status = 0;             ///< of HTTP; 0 if there is none

  bool succeeded() const { return !error && problem.empty(); }
  /// The text of the error or the problem.
  std::string failure() const;
};

/// A request to send.
struct RpcRequest {
  std::string method;
  json::object params{};
  /// How long to wait for a response or a progress notification.
  std::chrono::milliseconds limit{60'000};
  /// Time that it counts does not count towards any limit. May be null; must outlive the request.
  const WaitClock* waits = nullptr;
  /// Parameters that are also sent as headers, over HTTP in the modern protocol.
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// Asks for notifications of the progress of the request with that id.
void add_progress_token(json::object& params, std::int64_t id);

json::object rpc_request(std::int64_t id, std::string_view method, json::object params);
json::object rpc_notification(std::string_view method, json::object params);
/// The response to a server's request outside of any call. Servers may only ping and, during calls, send forms
/// (elicitation.hpp).
json::object rpc_reply(const RpcMessage& request);

/// The maximum size of a received message.
inline constexpr std::size_t max_message_bytes = 8 * 1024 * 1024;

}  // namespace agw
