#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "features/extensions/service.hpp"
#include "server/mcp/agent_chat.hpp"
#include "server/mcp/session.hpp"

namespace agw {

/// The tools that talk to agents: `chat`, and `ask_<agent>` for each enabled agent. They stream progress and pass
/// requests of the agents to the person at the client.
class ChatTools {
public:
  /// Stops the run that answers the turn.
  using StopRun = std::function<void(const std::string& thread_id, const std::string& turn_id)>;
  ChatTools(Loop& loop, Hub& hub, const Extensions& extensions, const ApiCaller& api, StopRun stop_run);

  json::array list() const;
  bool has(std::string_view name) const;
  /// The result of the call: `complete`, or `input_required` for a client without a session. Nullopt if the request was
  /// cancelled. Throws ToolFailure, and McpError for an unknown `requestState`.
  Task<std::optional<json::object>> call(McpExchangePointer exchange);

  /// Drops calls whose client never returned with its answers.
  void forget_abandoned();
  void stop() { waiting_.clear(); }

private:
  using Clock = std::chrono::steady_clock;
  /// A call that waits for the client's answers, stored by its `requestState`.
  struct WaitingCall {
    std::string tool;
    std::shared_ptr<AgentChat> chat;
    Clock::time_point since = Clock::now();
  };
  static constexpr std::size_t max_waiting = 200;
  static constexpr std::chrono::minutes patience{15};

  AgentMessage message_of(const McpExchange& exchange) const;
  Task<std::shared_ptr<AgentChat>> chat_of(McpExchangePointer exchange);
  Task<> take_answers(std::shared_ptr<AgentChat> chat, const McpExchange& exchange);
  Task<std::optional<json::object>> follow(std::shared_ptr<AgentChat> chat, McpExchangePointer exchange);
  Task<> ask(std::shared_ptr<AgentChat> chat, McpExchangePointer exchange);
  json::object input_required(std::shared_ptr<AgentChat> chat, const McpExchange& exchange);

  Loop& loop_;
  Hub& hub_;
  const Extensions& extensions_;
  const ApiCaller& api_;
  const StopRun stop_run_;
  std::map<std::string, WaitingCall, std::less<>> waiting_;
};

/// A result that consists of one text. If that is a JSON object, the result contains it as well.
json::object text_result(const std::string& text);
/// The result of a call that failed.
json::object error_result(const std::string& problem);

}  // namespace agw
