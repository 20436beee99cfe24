#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/async/task_group.hpp"
#include "base/json/json.hpp"

namespace agw::cli {

/// The error codes of JSON-RPC 2.0 and of the Agent Client Protocol.
namespace acp_code {
inline constexpr std::int64_t parse_error = -32700;
inline constexpr std::int64_t invalid_request = -32600;
inline constexpr std::int64_t method_not_found = -32601;
inline constexpr std::int64_t invalid_params = -32602;
inline constexpr std::int64_t internal_error = -32603;
inline constexpr std::int64_t cancelled = -32800;
inline constexpr std::int64_t auth_required = -32000;
inline constexpr std::int64_t not_found = -32002;
}  // namespace acp_code

/// An error response of JSON-RPC.
class RpcError : public std::runtime_error {
public:
  RpcError(std::int64_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
  std::int64_t code() const { return code_; }

private:
  std::int64_t code_;
};

/// An active request of the client.
struct RpcCall {
  json::value id;
  StopSource cancelled;                           ///< requested by `$/cancel_request`
  std::vector<std::function<void()>> afterwards;  ///< called once the response was sent
};
using RpcCallPointer = std::shared_ptr<RpcCall>;

/// Handles the messages of a client.
class RpcHandler {
public:
  RpcHandler() = default;
  virtual ~RpcHandler() = default;
  RpcHandler(const RpcHandler&) = delete;
  RpcHandler& operator=(const RpcHandler&) = delete;

  /// The result of a request. Throws RpcError, or any exception for an internal error.
  virtual Task<json::object> answer(std::string method, json::object params, RpcCallPointer call) = 0;
  /// Handles a notification. Exceptions are dropped, because a notification has no response.
  virtual Task<> notified(std::string method, json::object params) = 0;
};

/// One end of a JSON-RPC 2.0 connection whose messages are lines: handles the client's requests, several at a time, and
/// sends requests to the client. Each message gets at most one response, and a malformed one does not affect others.
/// Use it on the loop only.
/// Example: src/cli/acp/rpc_peer_test.cpp: RpcPeer.AnswersRequestsInAnyOrder
class RpcPeer {
public:
  using Send = std::function<void(const std::string& line)>;

  /// The maximum number of active requests of the client; others are refused.
  static constexpr std::size_t max_requests = 256;

  /// The handler must outlive this object.
  RpcPeer(Loop& loop, RpcHandler& handler, Send send);

  /// Handles a line from the client; notifications and requests start in the order of their lines.
  void take(std::string_view line);
  /// Responds to a line that was too long to be read.
  void refuse_line(std::size_t limit);

  void notify(std::string_view method, json::object params);
  /// Sends a request to the client. Throws RpcError if it responds with an error. If `over` is requested first, cancels
  /// the request at the client and throws RpcError with code `cancelled`.
  Task<json::object> ask(std::string method, json::object params, StopSource& over);
  /// Sends a request whose response does not matter, unless the client can no longer be asked.
  void request(std::string_view method, json::object params);

  /// No more responses will arrive: every current and later `ask` throws RpcError with code `cancelled`.
  void end_asking();
  /// Cancels the active requests, waits for at most `limit`, then abandons them.
  Task<> stop(std::chrono::milliseconds limit);

private:
  struct Asked {
    StopSource ended;
    json::object response;
  };

  void send_request(std::int64_t id, std::string_view method, json::object params);
  void take_message(json::object message);
  void take_request(json::object message, const json::value& id);
  void take_response(const json::object& message);
  Task<> answer(std::string method, json::object params, RpcCallPointer call);
  Task<> notified(std::string method, json::object params);
  void cancel(const json::object& params);
  void refuse(const json::value& id, std::int64_t code, std::string_view why);

  RpcHandler& handler_;
  Send send_;
  std::map<std::string, RpcCallPointer> answering_;  ///< active requests, by the id's JSON
  std::map<std::int64_t, std::shared_ptr<Asked>> asked_;
  std::int64_t last_asked_ = 0;
  bool can_ask_ = true;
  TaskGroup group_;
};

}  // namespace agw::cli
