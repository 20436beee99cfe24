#include "server/mcp/agent_chat.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_values.hpp"
#include "base/printable.hpp"

namespace agw {

namespace {

constexpr std::size_t max_early_events = 100;
constexpr std::size_t max_note = 300;
constexpr std::array<std::string_view, 8> followed{
    "text-delta", "tool-start", "error", "finish", "stopped", "permission-requested", "steered", "permission-decided"};

void put(json::object& body, std::string_view name, const std::optional<std::string>& value) {
  if (value) body[name] = *value;
}

}  // namespace

AgentChat::AgentChat(Loop& loop, Hub& hub, const ApiCaller& api, bool can_ask)
    : api_(api), can_ask_(can_ask), changed_(loop), listening_(hub, *this) {}

Task<> AgentChat::begin(AgentMessage message) {
  AGW_ASSERT(thread_id_.empty());
  const bool is_new = !message.thread;
  co_await open_thread(message);
  std::exception_ptr failure;
  try {
    co_await send(std::move(message));
  } catch (const ToolFailure&) {
    failure = std::current_exception();
  }
  if (!failure) co_return;
  if (is_new) co_await api_.call({.method = "DELETE", .segments = {"threads", thread_id_}});
  std::rethrow_exception(failure);
}

Task<> AgentChat::open_thread(const AgentMessage& message) {
  if (message.thread) {
    thread_id_ = *message.thread;
    co_return;
  }
  json::object body;
  put(body, "agent_id", message.agent);
  const auto thread = co_await api_.ask({.method = "POST", .segments = {"threads"}, .body = to_json(body)});
  thread_id_ = string_or_empty(thread.as_object(), "id");
}

Task<> AgentChat::send(AgentMessage message) {
  AGW_ASSERT(turn_id_.empty());
  if (message.mode) {
    co_await api_.ask({.method = "PATCH",
                       .segments = {"threads", thread_id_},
                       .body = to_json(json::object{{"mode", *message.mode}})});
  }
  json::object body{{"content", std::move(message.text)}, {"threadId", thread_id_}};
  put(body, "agentId", message.agent);
  put(body, "model", message.model);
  const auto turn = co_await api_.ask({.method = "POST", .segments = {"chat"}, .body = to_json(body)});
  turn_id_ = string_or_empty(turn.as_object(), "id");
  for (const auto& event : std::exchange(early_, {})) take(event);
}

void AgentChat::deliver(const DomainEvent& event) {
  if (ended_ || thread_id_.empty() || event.thread_id != thread_id_) return;
  if (!contains(followed, event.type)) return;
  if (!turn_id_.empty()) return take(event.message_members());
  if (early_.size() < max_early_events) early_.push_back(event.message_members());
}

void AgentChat::take(const json::object& event) {
  const auto type = string_or_empty(event, "type");
  if (type == "permission-decided") return close_request(string_or_empty(event, "requestId"));
  const auto run = string_or_empty(event, "runId");
  if (run_id_.empty() && string_member(event, "turnId") == turn_id_) run_id_ = run;
  if (run != run_id_ || ended_) return;
  show(event);
  changed_.notify();
}

void AgentChat::show(const json::object& event) {
  const auto type = string_or_empty(event, "type");
  if (type == "text-delta") {
    text_ += string_or_empty(event, "delta");
  } else if (type == "tool-start") {
    const auto input = to_json(json::value(object_or_empty(event, "input")));
    notes_.push_back(one_line(string_or_empty(event, "toolName") + ' ' + input, max_note));
  } else if (type == "permission-requested" && can_ask_) {
    waiting_.push_back(std::make_shared<Asked>());
    waiting_.back()->request = object_or_empty(event, "request");
  } else if (type == "error") {
    problem_ = string_or_empty(event, "error");
  } else if (type == "stopped") {
    problem_ = "(stopped)";
    ended_ = true;
  } else if (type == "finish") {
    const auto reason = string_or_empty(event, "finishReason");
    failed_ = reason == "error" || reason == "interrupted";
    if (reason != "stop" && reason != "error") problem_ = fmt::format("(the answer ended early: {})", reason);
    ended_ = true;
  }
}

std::shared_ptr<AgentChat::Asked> AgentChat::find_asked(std::string_view id) const {
  const auto found =
      std::ranges::find_if(waiting_, [&](const auto& one) { return string_member(one->request, "id") == id; });
  return found == waiting_.end() ? nullptr : *found;
}

void AgentChat::close_request(std::string_view id) {
  for (const auto& waiting : waiting_) {
    if (string_member(waiting->request, "id") == id) waiting->decided.request();
  }
  std::erase_if(waiting_, [](const auto& asked) { return asked->decided.requested(); });
  changed_.notify();
}

Task<std::optional<AgentChat::Step>> AgentChat::next(StopSource& stop) {
  const StopSource::Listener listener(stop, [this] { changed_.notify(); });
  for (;;) {
    if (stop.requested()) co_return std::nullopt;
    if (reported_ < text_.size() || !notes_.empty()) co_return Step::said;
    if (!waiting_.empty()) co_return Step::asks;
    if (ended_) co_return Step::ended;
    co_await changed_.wait();
    changed_.reset();
  }
}

AgentChat::Updates AgentChat::take_updates() {
  AGW_ASSERT(reported_ <= text_.size());
  Updates updates{.text = text_.substr(reported_), .notes = std::exchange(notes_, {})};
  reported_ = text_.size();
  return updates;
}

Task<> AgentChat::decide(std::string id, json::object decision) {
  // A refusal means that another client has decided, or that the decision is not possible.
  const auto response =
      co_await api_.call({.method = "POST", .segments = {"permissions", id}, .body = to_json(decision)});
  const bool is_open = response.status == 400;
  if (is_open) {
    co_await api_.call(
        {.method = "POST", .segments = {"permissions", id}, .body = to_json(json::object{{"decision", "deny"}})});
  }
  close_request(id);
}

std::string AgentChat::answer() const {
  AGW_ASSERT(ended_);
  AGW_ASSERT(reported_ == text_.size());  // clients were shown all of it
  auto text = text_;
  if (!problem_.empty()) text += (text.empty() ? "" : "\n") + problem_;
  if (failed_) throw ToolFailure(text);
  return text + fmt::format("\n(thread {})", thread_id_);
}

}  // namespace agw
