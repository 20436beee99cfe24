#include "cli/client/conversation.hpp"

#include <csignal>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/json/json_values.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto run_poll_interval = 100ms;

std::string id_of(const json::object& record) { return string_or_empty(record, "id"); }

void add(json::object& body, std::string_view name, const std::optional<std::string>& value) {
  if (value) body[name] = *value;
}

/// The run that the message was steered into, according to its turn.
std::optional<std::string> run_joined(const json::array& turns, std::string_view turn_id) {
  for (const auto& turn : turns) {
    if (string_member(turn.as_object(), "id") != turn_id) continue;
    const auto metadata = object_or_empty(turn.as_object(), "metadata");
    const auto run = string_member(metadata, "run_id");
    return run && metadata.contains("after_step") ? std::optional<std::string>(*run) : std::nullopt;
  }
  return std::nullopt;
}

/// Whether a signal arrives before the wait is cancelled.
Task<bool> comes(asio::signal_set& signals) {
  boost::system::error_code cancelled;
  co_await signals.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  co_return !cancelled;
}

}  // namespace

Conversation::Conversation(Loop& loop, ChatOptions options, AnswerPrinter& printer, Asker* asker)
    : loop_(loop),
      options_(std::move(options)),
      printer_(printer),
      asker_(asker),
      gateway_(find_gateway(options_.data_dir)) {}

Task<StreamedAnswer::Outcome> Conversation::say(std::string message) {
  gateway_ = find_gateway(options_.data_dir);
  const bool is_new = co_await ensure_thread();
  std::exception_ptr refusal;
  try {
    co_return co_await say_on_thread(std::move(message));
  } catch (const ResponseError&) {
    refusal = std::current_exception();
  }
  if (is_new) {
    co_await client_.remove(path({"threads", *options_.thread}));
    options_.thread.reset();
  }
  std::rethrow_exception(refusal);
}

void Conversation::abandon() {
  abandoned_ = true;
  if (abandon_) abandon_->request();
}

Task<bool> Conversation::ensure_thread() {
  if (options_.thread) co_return false;
  json::object body;
  add(body, "agent_id", options_.agent);
  options_.thread = id_of(co_await client_.post("/threads", std::move(body)));
  co_return true;
}

Task<StreamedAnswer::Outcome> Conversation::say_on_thread(std::string message) {
  if (options_.mode) co_await client_.patch(path({"threads", *options_.thread}), {{"mode", *options_.mode}});
  options_.mode.reset();  // later changes of the mode are intentional
  auto events = co_await EventStream::open(gateway_, *options_.thread, asker_ != nullptr);
  // Set up before the message is sent, so that no Ctrl-C is missed.
  asio::signal_set interrupts(loop_, SIGINT);
  StreamedAnswer answer(co_await post(std::move(message)), printer_);

  StopSource abandon;
  abandon_ = &abandon;
  if (abandoned_) abandon.request();
  if (asker_) approvals_ = std::make_unique<Approvals>(loop_, client_, *asker_, *options_.thread);
  TaskGroup group(loop_);
  group.spawn(watch(interrupts, group, abandon));
  std::exception_ptr failure;
  auto end = WaitResult::done;
  try {
    end = co_await with_timeout(abandon, no_limit, follow(answer, std::move(events)));
  } catch (...) {
    failure = std::current_exception();
  }
  abandon_ = nullptr;
  interrupts.cancel();
  co_await group.join();
  co_await stop_asking();
  printer_.end();
  if (failure) std::rethrow_exception(failure);
  if (end == WaitResult::done) co_return *answer.outcome();
  printer_.note("(given up; the gateway may still be answering)");
  co_return StreamedAnswer::Outcome::stopped;
}

Task<> Conversation::stop_asking() {
  if (!approvals_) co_return;
  try {
    co_await approvals_->stop();
  } catch (const std::exception& error) {
    printer_.error(error.what());
  }
  approvals_.reset();
}

Task<std::string> Conversation::post(std::string message) {
  json::object body{{"content", std::move(message)}, {"threadId", *options_.thread}};
  add(body, "agentId", options_.agent);
  add(body, "model", options_.model);
  add(body, "delivery", options_.delivery);
  co_return id_of(co_await client_.post("/chat", std::move(body)));
}

Task<> Conversation::watch(asio::signal_set& interrupts, TaskGroup& group, StopSource& abandon) {
  if (!co_await comes(interrupts)) co_return;
  group.spawn(stop_answer(abandon));
  // The second Ctrl-C stops waiting for the gateway.
  if (co_await comes(interrupts)) abandon.request();
}

Task<> Conversation::stop_answer(StopSource& abandon) {
  try {
    co_await with_timeout(abandon, no_limit, post_stop());
  } catch (const std::exception& error) {
    if (abandon.requested()) co_return;
    printer_.error(fmt::format("the answer could not be stopped: {}", error.what()));
  }
}

Task<> Conversation::post_stop() { co_await client_.post("/chat/stop", {{"threadId", *options_.thread}}); }

Task<> Conversation::follow(StreamedAnswer& answer, std::unique_ptr<EventStream> events) {
  while (!answer.outcome()) {
    const auto event = co_await events->next();
    if (event && approvals_) approvals_->take(*event);
    if (event && answer.take(*event) != StreamedAnswer::Progress::missed) continue;
    if (!event) events = co_await reconnect(gateway_, options_.data_dir, *options_.thread, printer_, asker_ != nullptr);
    if (!event && approvals_) co_await approvals_->read();
    co_await catch_up(answer);
  }
}

Task<> Conversation::catch_up(StreamedAnswer& answer) {
  constexpr int attempts = 10;
  StopSource never;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto active = co_await active_run();
    const bool is_active = string_member(active, "turnId") == answer.turn_id() ||
                           (answer.run_id() && string_member(active, "runId") == *answer.run_id());
    if (!answer.run_id() && is_active) answer.set_run_id(string_or_empty(active, "runId"));
    if (co_await take_missed_events(answer) || is_active) co_return;
    if (co_await take_stored_turn(answer)) co_return;
    if (!active.empty()) co_return;  // our message waits for another run of the thread
    // Between two runs there may briefly be no active one.
    co_await pause(never, run_poll_interval);
  }
  throw std::runtime_error(
      fmt::format("the gateway no longer has an answer to the message: ask again on thread {}", *options_.thread));
}

Task<json::object> Conversation::active_run() {
  const auto thread = co_await client_.get(path({"threads", *options_.thread}));
  co_return thread.is_object() ? object_or_empty(thread.get_object(), "active_run") : json::object();
}

Task<bool> Conversation::take_missed_events(StreamedAnswer& answer) {
  if (!answer.run_id()) co_return false;
  const auto list =
      co_await client_.get(path({"threads", *options_.thread, "events"},
                                {{"runId", *answer.run_id()}, {"after", std::to_string(answer.last_sequence())}}));
  if (!list.is_array() || list.get_array().empty()) co_return false;
  for (const auto& event : list.get_array()) answer.take_caught_up(event.as_object());
  co_return true;
}

Task<bool> Conversation::take_stored_turn(StreamedAnswer& answer) {
  const auto list = co_await client_.get(path({"threads", *options_.thread, "turns"}, {{"limit", "1000"}}));
  if (!list.is_array()) co_return false;
  const auto joined = run_joined(list.get_array(), answer.turn_id());
  for (const auto& entry : list.get_array()) {
    const auto& turn = entry.as_object();
    const auto metadata = object_or_empty(turn, "metadata");
    const bool answers = string_member(metadata, "in_reply_to") == answer.turn_id() ||
                         (joined && string_member(metadata, "run_id") == *joined);
    if (string_member(turn, "role") != "assistant" || !answers) continue;
    answer.take_stored(turn);
    co_return true;
  }
  co_return false;
}

}  // namespace agw::cli
