#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/async_event.hpp"
#include "features/client_api/types.hpp"
#include "features/runs/run_client.hpp"

namespace agw {

/// A run of an agent that a program has asked for. It outlives the program's connection: while none follows it, its
/// text waits. An answer to the program ends when the run ends, or when the model calls tools of the program; the run
/// then waits for their results, and another request of the program follows it on.
class AgentRun : public RunClient {
public:
  /// How long a run waits for the result of a call.
  static constexpr std::chrono::minutes patience{15};

  AgentRun(Loop& loop, ModelRequest call);

  // For the connection that follows it.

  /// Gives what has come and what comes to `on_delta`, until the pause.
  void follow(OnDelta on_delta);
  void leave() { on_delta_ = {}; }
  /// Waits for the end of the answer.
  Task<> until_pause();
  /// Puts the end of the answer into it.
  void finish(ClientAnswer& answer);
  /// The error that ended the run; empty if none did.
  const std::string& error() const { return error_; }
  bool over_budget() const { return finish_reason_ == "budget"; }
  bool has_ended() const { return ended_; }

  /// Whether the run waits for the result of that call.
  bool waits_for(std::string_view call_id) const { return !ended_ && results_.contains(call_id) && paused_.happened(); }
  bool is_waiting() const { return !ended_ && paused_.happened(); }
  /// Gives it the results that the messages have; calls without one failed. It goes on.
  void resume(const std::vector<Message>& messages);

  /// Called when the run has ended, before the answer does.
  void at_end(std::function<Task<>(std::string text)> at_end) { at_end_ = std::move(at_end); }
  /// What is to be done before the answer ends; empty if nothing is.
  std::function<Task<>(std::string text)> take_at_end() { return std::exchange(at_end_, {}); }
  const std::string& all_text() const { return all_text_; }

  const std::string& system() const override { return system_; }
  const std::vector<ToolDescription>& tools() const override { return tools_; }
  void text(std::string_view delta) override;
  void reasoning(std::string_view delta) override;
  void call(const std::vector<ToolUse>& uses, const json::object& progress) override;
  Task<Result> result(std::string call_id, StopSource& stop) override;
  void ended(std::string_view type, const json::object& members, std::string_view error) override;

private:
  void emit(Delta delta);
  void take_usage(const json::object& members);

  const std::string system_;
  const std::vector<ToolDescription> tools_;
  OnDelta on_delta_;
  std::vector<Delta> waiting_;
  AsyncEvent paused_;
  AsyncEvent resumed_;
  std::vector<ToolUse> calls_;
  std::map<std::string, std::optional<Result>, std::less<>> results_;
  Usage counted_;
  Usage reported_;
  std::string all_text_;
  std::string finish_reason_;
  std::string error_;
  bool ended_ = false;
  std::function<Task<>(std::string)> at_end_;
};

}  // namespace agw
