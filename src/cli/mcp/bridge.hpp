#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/json/json.hpp"
#include "cli/mcp/http_exchange.hpp"

namespace agw::cli {

/// Forwards messages between an MCP client and the gateway's MCP server. Messages are texts without line feeds. Opens a
/// session for a client that did not perform a handshake, or whose session the gateway no longer knows.
class McpBridge {
public:
  using Send = std::function<void(const std::string& message)>;
  struct Options {
    std::optional<std::string> data_dir{};
    bool all = false;  ///< offer tools that change or execute
  };
  McpBridge(Loop& loop, Options options, Send send);

  /// Forwards a message of the client. Responses to requests are sent when they are ready.
  Task<> take(std::string line);
  /// Waits until all requests are answered, `stop` is requested or `limit` has passed.
  Task<WaitResult> wait(StopSource& stop, std::chrono::milliseconds limit);
  /// The input has ended: declines current and later requests of the gateway, and ends subscriptions.
  Task<> end_asking();
  /// Abandons the current requests and ends the session.
  Task<> stop();

private:
  /// A message from the client.
  struct Message {
    std::string text;
    json::value id{};       ///< null if no response is expected
    std::string answers{};  ///< the id of the gateway's request that it answers, as JSON
    std::string method{};
    std::string target{};   ///< `params.name` or `params.uri`
    std::string version{};  ///< the revision named by the message; empty if it belongs to the session
    bool is_json_rpc = false;
  };
  /// An active request.
  struct Call {
    StopSource abandoned{};
    bool is_cancelled = false;
    std::string method{};
    bool is_modern = false;
  };

  static Message read(std::string text);
  McpHttpRequest request_for(const Message& message) const;
  Task<McpHttpResponse> send(Message message);
  Task<> pass(Message message);
  Task<> answer(Message message, std::shared_ptr<Call> call);
  Task<> cancel(Message message, std::string id);
  void give(const McpHttpResponse& response, const Message& message);
  void deliver_message(std::string_view text);
  void fail(const Message& message, const std::string& why);

  Task<> open_session(std::string initialize);
  void wait_for_gateway() const;
  Task<> ensure_session();
  void listen();
  Task<> read_notifications();
  Task<> decline(std::string id);

  const Options options_;
  const Send send_;
  std::string session_;
  std::string version_;                                 ///< of the session
  std::string initialize_;                              ///< the client's own message, for repetition
  bool is_over_ = false;                                ///< the input has ended
  std::map<std::string, std::shared_ptr<Call>> calls_;  ///< active requests, by the id's JSON
  std::set<std::string> asked_;                         ///< ids of the gateway's open requests, as JSON
  StopSource stopping_;
  TaskGroup active_;
  TaskGroup background_;
};

}  // namespace agw::cli
