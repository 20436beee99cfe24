#pragma once

#include <optional>
#include <string>

#include "base/async/task_group.hpp"
#include "features/engine/service.hpp"
#include "features/extensions/service.hpp"
#include "features/runs/service.hpp"
#include "io/http/http_client.hpp"
#include "server/mcp/changes.hpp"
#include "server/mcp/chat_tools.hpp"
#include "server/mcp/fixture.hpp"
#include "server/mcp/prompts.hpp"
#include "server/mcp/resources.hpp"
#include "server/mcp/route_tools.hpp"

namespace agw {

/// The services that the MCP server uses.
struct McpServices {
  Loop& loop;
  Hub& hub;
  Extensions& extensions;
  Engine& engine;
  Runs& runs;
  HttpClient& http;
  Idempotency& idempotency;
  BlockingPool& blocking;
};

/// The methods of MCP, independent of the transport.
class McpMethods {
public:
  McpMethods(const McpServices& services, const ApiCaller& api, McpClientSessions& sessions, std::string fixture_url);

  /// The result of a request; nullopt if it was cancelled. Throws McpError.
  Task<std::optional<json::object>> answer(McpExchangePointer exchange);
  /// The result of `initialize` for that revision.
  static json::object initialized(std::string_view version);

  McpChanges& changes() { return changes_; }
  void forget_abandoned() { chats_.forget_abandoned(); }
  void stop();

private:
  using Result = Task<std::optional<json::object>>;

  static json::object discovered();
  Task<json::object> list(McpExchangePointer exchange);
  Result call_tool(McpExchangePointer exchange);
  Result call_own_tool(McpExchangePointer exchange, std::string name);
  Result get_prompt(McpExchangePointer exchange);
  Result read_resource(McpExchangePointer exchange);
  Result complete(McpExchangePointer exchange);
  Task<json::object> subscribe(McpExchangePointer exchange);
  static json::object set_level(const McpExchange& exchange);
  Task<std::string> propose(ApiCall call);
  void stop_run(const std::string& thread_id, const std::string& turn_id);

  const McpServices services_;
  const ApiCaller& api_;
  RouteTools routes_;
  ChatTools chats_;
  CommandPrompts prompts_;
  Resources resources_;
  McpChanges changes_;
  McpFixture fixture_;
};

}  // namespace agw
