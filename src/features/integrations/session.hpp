#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "features/integrations/transport.hpp"
#include "features/integrations/types.hpp"
#include "tools/tool.hpp"

namespace agw {

/// A session with an MCP server: the handshake of its protocol revision, its tools and their calls. Used on the loop.
class McpSession {
public:
  McpSession(Loop& loop, std::string name, std::unique_ptr<McpTransport> transport);
  ~McpSession();

  /// Connects and lists the tools. `era`: that of the last session with the server, if known. Returns why the session
  /// cannot be used; empty if it can.
  Task<std::string> open(std::optional<McpEra> era, StopSource& stop);
  std::optional<McpEra> era() const { return era_; }

  /// The tools, in the server's order.
  const std::vector<OfferedTool>& tools() const { return tools_; }
  /// Keeps the tools up to date until the session ends. Returns why it ended.
  Task<std::string> run(StopSource& stop, std::function<void()> tools_changed);

  /// If `session_lost`, the caller should repeat the call in a new session.
  struct CallResult {
    ToolOutcome outcome;
    bool session_lost = false;
  };
  /// During the call, the server may ask the person of `caller`, if any.
  Task<CallResult> call(std::string tool, json::object arguments, StopSource& stop, const ToolCall* caller = nullptr);

  Task<> close(std::chrono::milliseconds limit);

private:
  class ElicitingCall;
  bool handle_request(const RpcMessage& request);
  Task<std::string> discover(StopSource& stop);
  Task<std::string> initialize(StopSource& stop);
  Task<RpcResponse> send_initialize(StopSource& stop);
  Task<bool> fall_back(StopSource& stop);
  void listen_to(McpTransport& transport);
  void read_capabilities(const json::object& result);
  Task<std::string> list_tools(StopSource& stop);
  Task<> follow_changes(StopSource& stop);
  Task<> subscribe(StopSource& stop);
  Task<RpcResponse> send_request(RpcRequest request, StopSource& stop);
  Task<RpcResponse> send_with_input(RpcRequest request, StopSource& stop, const ToolCall& caller);
  Task<RpcResponse> send_call(RpcRequest request, StopSource& stop, const ToolCall* caller);
  void set_marked_headers(RpcRequest& call) const;
  void add_tool(std::vector<OfferedTool>& listed, const json::value& value);
  /// Whether arguments that a schema marks are sent as headers, too.
  bool sends_marked() const;
  void report_skipped(const std::string& name, const std::string& why);
  const json::object* schema_of(const std::string& tool) const;

  Loop& loop_;
  std::string name_;
  std::unique_ptr<McpTransport> transport_;
  std::optional<McpEra> era_;
  bool has_tools_ = false;
  bool notifies_changes_ = false;
  std::vector<OfferedTool> tools_;
  std::set<std::string, std::less<>> reported_skipped_;
  AsyncEvent tools_changed_;
  std::vector<ElicitingCall*> eliciting_;  ///< active calls whose person can be asked, oldest first
};

}  // namespace agw
