#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/json/json.hpp"
#include "features/events/hub.hpp"
#include "server/mcp/api_caller.hpp"

namespace agw {

/// A message of an MCP client to an agent.
struct AgentMessage {
  std::string text{};
  std::optional<std::string> agent{};   ///< id or name; nullopt: the thread's agent
  std::optional<std::string> thread{};  ///< nullopt: a new thread
  std::optional<std::string> model{};
  std::optional<std::string> mode{};
};

/// A message to an agent and its answer, followed from start to end. If `can_ask`, permission requests and questions of
/// the agent are passed to the client. Use it on the loop only.
class AgentChat : private Subscriber {
public:
  AgentChat(Loop& loop, Hub& hub, const ApiCaller& api, bool can_ask);
  AgentChat(const AgentChat&) = delete;
  AgentChat& operator=(const AgentChat&) = delete;

  /// Sends the message. Throws ToolFailure.
  Task<> begin(AgentMessage message);

  enum class Step {
    said,   ///< `take_updates` returns new text or tools
    asks,   ///< `asked` is a permission request or question
    ended,  ///< `answer` returns the answer
  };
  /// Waits for the next step; nullopt once `stop` is requested.
  Task<std::optional<Step>> next(StopSource& stop);

  /// New text, and tools used, since the last call.
  struct Updates {
    std::string text;
    std::vector<std::string> notes;
  };
  Updates take_updates();

  /// A permission request or question of the agent.
  struct Asked {
    json::object request;
    StopSource decided;  ///< requested when it is decided, here or by another client
  };
  /// The oldest open request.
  std::shared_ptr<Asked> asked() const {
    AGW_ASSERT(!waiting_.empty());
    return waiting_.front();
  }
  /// The open request with this id, or null.
  std::shared_ptr<Asked> find_asked(std::string_view id) const;
  /// Decides the request with this id, unless it was already decided.
  Task<> decide(std::string id, json::object decision);

  /// The complete answer. Throws ToolFailure if the run failed.
  std::string answer() const;
  const std::string& thread_id() const { return thread_id_; }
  const std::string& turn_id() const { return turn_id_; }

private:
  void deliver(const DomainEvent& event) override;
  bool answers(std::string_view thread_id) const override { return can_ask_ && thread_id == thread_id_; }
  Task<> open_thread(const AgentMessage& message);
  Task<> send(AgentMessage message);
  void take(const json::object& event);
  void show(const json::object& event);
  void close_request(std::string_view id);

  const ApiCaller& api_;
  const bool can_ask_;
  std::string thread_id_;
  std::string turn_id_;
  std::string run_id_;
  std::vector<json::object> early_;  ///< events received before the turn's id was known
  std::string text_;
  std::size_t reported_ = 0;  ///< bytes of `text_` already returned
  std::vector<std::string> notes_;
  std::string problem_;
  bool ended_ = false;
  bool failed_ = false;
  std::deque<std::shared_ptr<Asked>> waiting_;
  AsyncEvent changed_;
  Hub::Listening listening_;
};

}  // namespace agw
