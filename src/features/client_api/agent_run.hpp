#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/async_event.hpp"
#include "features/client_api/conversations.hpp"
#include "features/client_api/types.hpp"
#include "features/runs/run_client.hpp"

namespace agw {

/// A run of an agent that a program has started. It outlives the program's connection: while no connection follows it,
/// its deltas are buffered. An answer to the program ends when the run ends, or when the model calls tools of the
/// program; the run then waits for their results, which the program's next request contains.
class AgentRun : public RunClient {
public:
  /// How long a run waits for the result of a call.
  static constexpr std::chrono::minutes result_timeout{15};

  /// Uses the system prompt, the tools and the settings of `call`.
  AgentRun(Loop& loop, ModelRequest call);

  // These are for the connection that follows the run.

  /// Calls `on_delta` with the deltas so far and all further ones, until `unfollow`.
  void follow(OnDelta on_delta);
  void unfollow() { on_delta_ = {}; }
  /// Waits until the run has ended or waits for results, either of which ends the answer.
  Task<> wait_until_paused();
  /// Sets the members of `answer` that are known only at its end.
  void finish(ClientAnswer& answer);
  /// The error that ended the run; empty if none did.
  const std::string& error() const { return error_; }
  /// The failure of the model, if that ended the run.
  const std::optional<ModelFailure>& model_failure() const { return model_failure_; }
  bool over_budget() const { return finish_reason_ == "budget"; }
  bool has_ended() const { return ended_; }

  /// Whether the run waits for the result of the call with that id, which is the program's.
  bool waits_for(std::string_view call_id) const { return waits_for_request() && find_call(call_id); }
  /// Takes the results in the messages. The run does not wait for others any more; call `resume` or `wait_again` next.
  void take_results(const std::vector<Message>& messages);
  /// Resumes the run with these results; calls without a result fail.
  void resume() { resumed_.notify(); }
  void wait_again() { paused_.notify(); }

  /// Sets a function to call once the run has ended, before the answer ends, with the program's conversation, which
  /// begins with `conversation`.
  using AtEnd = std::function<Task<>(Conversation whole)>;
  void at_end(Conversation conversation, AtEnd at_end);
  /// Adds what the program said while the run waited for it.
  void add_said(std::string_view text, const std::vector<std::string>& pictures);
  /// The function set by `at_end`, once; empty afterwards.
  AtEnd take_at_end() { return std::exchange(at_end_, {}); }
  /// The program's conversation so far.
  Conversation conversation() const;

  const std::string& system() const override { return system_; }
  const std::vector<ToolDescription>& tools() const override { return tools_; }
  CallSettings settings() const override { return settings_; }
  void text(std::string_view delta) override;
  void reasoning(std::string_view delta) override;
  void call(const std::vector<ToolUse>& uses) override;
  Task<Result> result(std::string call_id, StopSource& stop) override;
  bool waits_for_request() const override { return !ended_ && paused_.happened(); }
  void used(const Usage& usage) override { unreported_ += usage; }
  void model_failed(const ModelFailure& failure) override { model_failure_ = failure; }
  void ended(std::string_view type, const json::object& members, std::string_view error) override;

private:
  /// A call of the current step.
  struct Call {
    ToolUse use;           ///< with the id for the program
    std::string model_id;  ///< the model's id: not unique across conversations, nor, with some models, within one
    std::optional<Result> result{};
    bool is_taken = false;
  };

  /// The call with that id for the program; null if there is none.
  const Call* find_call(std::string_view id) const;
  void emit(Delta delta);

  const std::string system_;
  const std::vector<ToolDescription> tools_;
  const CallSettings settings_;
  OnDelta on_delta_;
  std::vector<Delta> waiting_;
  AsyncEvent paused_;
  AsyncEvent resumed_;
  std::vector<Call> calls_;
  Usage unreported_;
  std::string all_text_;
  std::string finish_reason_;
  std::string error_;
  std::optional<ModelFailure> model_failure_;
  bool at_beginning_ = false;  ///< no text since the program's results: leading line breaks are removed
  bool ended_ = false;
  AtEnd at_end_;
  Conversation conversation_;
  std::size_t in_conversation_ = 0;  ///< the number of bytes of `all_text_` that `conversation_` contains
};

}  // namespace agw
