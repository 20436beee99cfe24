#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "cli/client/asker.hpp"
#include "cli/mcp/mcp_tools.hpp"

namespace agw::cli {

/// An MCP server for tools only, revisions 2024-11-05 to 2025-11-25 (with a handshake) and 2026-07-28 (each request
/// names its revision). Messages are texts without line feeds, in both directions.
///
/// If the client declared in the handshake that its person can be asked (elicitation), agents ask there while `chat`
/// waits for an answer.
class McpServer : private Asker {
public:
  using Send = std::function<void(const std::string& message)>;
  McpServer(Loop& loop, const McpTools& tools, Send send);

  /// Handles a message of the client. Tool calls run in the background; their results are sent when they are ready.
  Task<> take(std::string message);
  /// Waits until all calls are completed, `stop` is requested or `limit` has passed.
  Task<WaitResult> wait(StopSource& stop, std::chrono::milliseconds limit);
  /// Nobody answers any more: the input has ended. Denies what is asked, now and later.
  void end_asking();
  /// Abandons the current calls.
  Task<> stop();

private:
  /// A request and its id.
  struct McpRequest {
    json::value id;
    std::string method;
    json::object params;
    bool is_modern = false;
  };

  /// A question that was sent to the client.
  struct Elicitation {
    StopSource ended;
    json::object result;
  };

  Task<std::optional<json::object>> ask(json::object request, StopSource& over) override;
  void tell(const json::object&) override {}
  void take_result(const json::object& message);

  Task<> response(McpRequest request);
  Task<> call_tool(McpRequest request, std::shared_ptr<StopSource> stop);
  Task<> finish_call(McpRequest request);
  Task<> list_tools(McpRequest request);
  void discover(const McpRequest& request);
  void initialize(const McpRequest& request);
  void take_notification(const json::object& message);
  bool speaks_our_revision(McpRequest& request);
  void reply(const McpRequest& request, json::object result);
  void refuse(const json::value& id, std::int64_t code, const std::string& why, json::object data = {});

  const McpTools& tools_;
  Send send_;
  std::map<std::string, std::shared_ptr<StopSource>> in_flight_;  ///< by the id's JSON
  bool can_ask_ = false;
  std::int64_t asked_ = 0;
  std::map<std::int64_t, std::shared_ptr<Elicitation>> elicitations_;  ///< by the id of our request
  TaskGroup calls_;
};

}  // namespace agw::cli
