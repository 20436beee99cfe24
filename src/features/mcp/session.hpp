#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/wakeup.hpp"
#include "features/mcp/transport.hpp"
#include "features/mcp/types.hpp"
#include "tools/tool.hpp"

namespace agw {

/// One session with an MCP server: the handshake of whichever revision it speaks, its tools, calls of them. On the
/// loop.
class McpSession {
public:
  McpSession(Loop& loop, std::string name, std::unique_ptr<McpTransport> transport);
  ~McpSession();

  /// Connects and learns the tools. `era`: how the server spoke the last time, if that is known. Returns why it cannot
  /// be used, for people; empty where it can.
  Task<std::string> open(std::optional<McpEra> era, Stop& stop);
  std::optional<McpEra> era() const { return era_; }

  /// In the server's order.
  const std::vector<OfferedTool>& tools() const { return tools_; }
  /// Keeps the tools up to date until the session is of no use any more, and says why.
  Task<std::string> live(Stop& stop, std::function<void()> tools_changed);

  /// `session_lost` of the outcome: to be done again in a new session.
  struct Called {
    ToolOutcome outcome;
    bool session_lost = false;
  };
  Task<Called> call(std::string tool, json::object arguments, Stop& stop);

  Task<> close(std::chrono::milliseconds limit);

private:
  Task<std::string> discover(Stop& stop);
  Task<std::string> initialize(Stop& stop);
  void take_capabilities(const json::object& result);
  Task<std::string> list_tools(Stop& stop);
  Task<> follow_changes(Stop& stop);
  Task<> subscribe(Stop& stop);
  Task<RpcAnswer> ask(RpcRequest request, Stop& stop);
  void take_tool(const json::value& value);
  void tell_left_out(const std::string& name);
  const json::object* schema_of(const std::string& tool) const;

  Loop& loop_;
  std::string name_;
  std::unique_ptr<McpTransport> transport_;
  std::optional<McpEra> era_;
  bool has_tools_ = false;
  bool tells_changes_ = false;
  std::vector<OfferedTool> tools_;
  std::set<std::string, std::less<>> told_left_out_;
  Wakeup tools_changed_;
};

}  // namespace agw
