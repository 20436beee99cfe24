#include "features/client_api/agent_run.hpp"

#include <algorithm>
#include <utility>

#include "base/async/assert.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "models/call_features.hpp"

namespace agw {

namespace {

constexpr std::size_t call_id_bytes = 16;

/// The settings for the agent's models. Drops the program's cache key, because the thread has its own, and converts a
/// reasoning budget into a level, because the limits of models differ too much.
CallSettings settings_of(const ModelRequest& call) {
  CallSettings settings{.temperature = call.temperature, .options = call.options};
  auto& options = settings.options;
  if (options.limits_output) settings.max_output_tokens = options.output_ceiling = call.max_output_tokens;
  options.limits_output = true;
  options.streams_calls = false;
  options.tool_choice.reset();
  options.reasoning_effort = reasoning_effort(call.options);
  options.reasoning_budget.reset();
  for (const auto* name : {"prompt_cache_key", "metadata"}) options.labels.erase(name);
  return settings;
}

Task<> wait_for(AsyncEvent& event) { co_await event.wait(); }

}  // namespace

AgentRun::AgentRun(Loop& loop, ModelRequest call)
    : system_(std::move(call.system)),
      tools_(std::move(call.tools)),
      settings_(settings_of(call)),
      paused_(loop),
      resumed_(loop) {}

void AgentRun::follow(OnDelta on_delta) {
  AGW_DEBUG_ASSERT(!on_delta_);  // the follower before would miss the rest
  on_delta_ = std::move(on_delta);
  for (auto& delta : std::exchange(waiting_, {})) on_delta_(delta);
}

void AgentRun::emit(Delta delta) {
  AGW_ASSERT(!on_delta_ || waiting_.empty());
  if (on_delta_) return on_delta_(delta);
  const bool is_continued = !waiting_.empty() && waiting_.back().kind == delta.kind &&
                            delta.kind != Delta::Kind::call && waiting_.back().call == delta.call;
  if (is_continued) {
    waiting_.back().text += delta.text;
  } else {
    waiting_.push_back(std::move(delta));
  }
}

void AgentRun::text(std::string_view delta) {
  all_text_ += delta;
  if (at_beginning_) delta.remove_prefix(std::min(delta.find_first_not_of('\n'), delta.size()));
  if (delta.empty()) return;
  at_beginning_ = false;
  emit({Delta::Kind::text, std::string(delta)});
}

void AgentRun::reasoning(std::string_view delta) { emit({Delta::Kind::reasoning, std::string(delta)}); }

const AgentRun::Call* AgentRun::find_call(std::string_view id) const {
  const auto found = std::ranges::find(calls_, id, [](const Call& call) -> std::string_view { return call.use.id; });
  return found == calls_.end() ? nullptr : &*found;
}

void AgentRun::call(const std::vector<ToolUse>& uses) {
  AGW_DEBUG_ASSERT(!uses.empty());
  AGW_DEBUG_ASSERT(!ended_);
  calls_.clear();
  resumed_.reset();
  for (std::size_t number = 0; number < uses.size(); ++number) {
    auto& use = calls_.emplace_back(Call{.use = uses[number], .model_id = uses[number].id}).use;
    use.id = "call_" + random_hex(call_id_bytes);
    emit({Delta::Kind::call, {}, number, use.id, use.name});
    emit({Delta::Kind::arguments, use.arguments_text(), number});
  }
  paused_.notify();
}

Task<RunClient::Result> AgentRun::result(std::string call_id, StopSource& stop) {
  const auto waited = co_await with_timeout(stop, result_timeout, wait_for(resumed_));
  const auto found =
      std::ranges::find_if(calls_, [&call_id](const Call& call) { return call.model_id == call_id && !call.is_taken; });
  if (found != calls_.end()) {
    found->is_taken = true;
    if (found->result) co_return *std::move(found->result);
  }
  co_return Result{waited == WaitResult::timed_out ? "the program that has this tool did not answer in time"
                                                   : "the program that has this tool sent no result",
                   true};
}

void AgentRun::take_results(const std::vector<Message>& messages) {
  AGW_ASSERT(waits_for_request());
  for (const auto& message : messages) {
    const auto found = std::ranges::find(calls_, message.tool_call_id, [](const Call& call) { return call.use.id; });
    if (message.role != Message::Role::tool || found == calls_.end()) continue;
    found->result = Result{message.text, message.is_error, message.images};
    for (auto& image : found->result->images) image.text_before = 0;  // another message will contain them
  }
  at_beginning_ = true;
  paused_.reset();
}

void AgentRun::at_end(Conversation conversation, AtEnd at_end) {
  conversation_ = std::move(conversation);
  at_end_ = std::move(at_end);
}

void AgentRun::add_said(std::string_view text, const std::vector<std::string>& pictures) {
  conversation_ = conversation();
  conversation_.add(Role::user, text, pictures);
  in_conversation_ = all_text_.size();
}

Conversation AgentRun::conversation() const {
  auto whole = conversation_;
  whole.add(Role::assistant, std::string_view(all_text_).substr(in_conversation_));
  return whole;
}

void AgentRun::ended(std::string_view type, const json::object& members, std::string_view error) {
  if (std::exchange(ended_, true)) return;
  finish_reason_ = type == "finish" ? string_or_empty(members, "finishReason") : "stopped";
  error_ = error;
  paused_.notify();
}

Task<> AgentRun::wait_until_paused() { co_await paused_.wait(); }

void AgentRun::finish(ClientAnswer& answer) {
  AGW_ASSERT(answer.tool_uses.empty());
  unfollow();
  answer.usage = std::exchange(unreported_, {});
  answer.stop = StopReason::stop;
  if (!ended_) {
    for (const auto& call : calls_) answer.tool_uses.push_back(call.use);
    answer.stop = StopReason::tool_use;
  } else if (finish_reason_ == "content-filter") {
    answer.stop = StopReason::content_filter;
  } else if (finish_reason_ != "stop") {
    // Cut off: also by a stop, so that the program does not take half an answer for a whole one.
    answer.stop = StopReason::length;
  }
}

}  // namespace agw
