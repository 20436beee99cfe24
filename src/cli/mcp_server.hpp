#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/cut.hpp"
#include "base/group.hpp"
#include "cli/mcp_tools.hpp"

namespace agw::cli {

/// The server's side of the Model Context Protocol, revisions 2024-11-05 to 2025-11-25 (with a handshake) and
/// 2026-07-28 (each request says its revision): tools, and nothing else. Messages are texts without line feeds, both
/// ways.
class McpServer {
public:
  using Send = std::function<void(const std::string& message)>;
  McpServer(Loop& loop, const McpTools& tools, Send send);

  /// Takes a message of the client. Calls of tools go on beside it; what they answer is sent when it is there.
  Task<> take(std::string message);
  /// Waits until what is under way is answered, or until `stop` or `limit` comes first.
  Task<End> wait(Stop& stop, std::chrono::milliseconds limit);
  /// Gives up what is under way.
  Task<> stop();

private:
  /// A request and what identifies it.
  struct McpRequest {
    json::value id;
    std::string method;
    json::object params;
    bool is_modern = false;
  };

  Task<> answer(McpRequest request);
  Task<> call_tool(McpRequest request, std::shared_ptr<Stop> stop);
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
  std::map<std::string, std::shared_ptr<Stop>> under_way_;  ///< by the id's JSON
  Group calls_;
};

}  // namespace agw::cli
