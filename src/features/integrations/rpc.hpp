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

/// One JSON-RPC message that came. Servers cut texts within a character: what is none is replaced. An
/// answer that cannot be read, or has neither a result nor an error, is one with an error of our own.
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

/// Takes them out of what a server says that it refuses: an error, or a result that is one.
void hide_secrets(RpcMessage& response, const FilledSecrets& secrets);

/// What came of a request. One of the three is set: an error, a problem (nothing usable came, in words for people), or
/// else the result.
struct RpcResponse {
  json::object result{};
  std::optional<RpcError> error{};
  std::string problem{};
  bool timed_out = false;
  bool session_lost = false;  ///< the server has forgotten us: begin anew
  int status = 0;             ///< of HTTP, 0 where it says nothing

  bool succeeded() const { return !error && problem.empty(); }
  /// The error or the problem, for people.
  std::string failure() const;
};

/// What to ask.
struct RpcRequest {
  std::string method;
  json::object params{};
  /// Without an answer or a report of progress for so long, it is given up.
  std::chrono::milliseconds limit{60'000};
  /// The time that it counts is not part of any limit. Outlives the request.
  const WaitClock* waits = nullptr;
  /// Parameters that go into headers too, over HTTP in the modern protocol.
  std::vector<std::pair<std::string, std::string>> headers{};
};

json::object rpc_request(std::int64_t id, std::string_view method, json::object params);
json::object rpc_notification(std::string_view method, json::object params);
/// The answer to a request of the server outside of any call. Of what servers can ask of clients we offer a sign of
/// life and, within calls, forms (elicitation.hpp).
json::object rpc_reply(const RpcMessage& request);

/// The largest message that is read.
inline constexpr std::size_t max_message_bytes = 8 * 1024 * 1024;

}  // namespace agw
