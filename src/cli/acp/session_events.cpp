// How a session follows its thread, in three parts: the connection and its loss (`open` to `reconnect`), catching up on
// missed events (`catch_up_active` to `replay`), and single events (`take` to `send_usage`).
//
// Events of a run reach the client in order, each once. After a gap the missing ones are read from the gateway. If a
// prompt's events no longer exist, its stored answer is used.

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"
#include "cli/acp/session.hpp"
#include "models/wire_format.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto resubscribe_limit = 15s;
constexpr auto resubscribe_interval = 100ms;
constexpr auto settle_interval = 100ms;
constexpr int settle_attempts = 10;
constexpr std::size_t max_runs = 64;
constexpr std::size_t max_early = 64;
constexpr std::size_t turns_per_page = 1000;
constexpr std::size_t max_replayed = 2000;
constexpr std::int64_t max_replayed_pictures = 64 << 20;  // bytes

template <class Value>
void push_bounded(std::deque<Value>& list, Value value, std::size_t max_size) {
  list.push_back(std::move(value));
  if (list.size() > max_size) list.pop_front();
}

/// The size of the picture in an update of EventUpdates::replay; 0 if it is another update.
std::int64_t picture_size(const json::object& update) {
  const auto* content = object_member(update, "content");
  return content && content->contains("mime") ? std::max<std::int64_t>(1, integer_or_zero(*content, "size")) : 0;
}

}  // namespace

Task<> Session::open(bool replays) {
  const auto gateway = gateway_.find();
  events_ = co_await EventStream::open(*gateway, id_, true);
  if (replays) co_await replay();
  co_await attach(gateway);
  group_.spawn(follow());
}

/// Reconnects to the events if attempts were given up before.
Task<> Session::connect() {
  while (const auto connection = connecting_) co_await until_requested(*connection);
  if (events_ || closing_.requested()) co_return;
  const auto attempt = connecting_ = std::make_shared<StopSource>();
  std::exception_ptr failure;
  try {
    const auto gateway = gateway_.find();
    events_ = co_await EventStream::open(*gateway, id_, true);
    if (!closing_.requested()) co_await attach(gateway);
    if (!closing_.requested()) group_.spawn(follow());
  } catch (...) {
    failure = std::current_exception();
  }
  // `close` does not wait for the attempt: nothing may be left that it would have ended.
  if (closing_.requested()) co_await leave_waiting_room();
  if (closing_.requested() || failure) events_.reset();
  connecting_.reset();
  attempt->request();
  if (failure) std::rethrow_exception(failure);
}

/// Follows the pending permission requests.
Task<> Session::attach(std::shared_ptr<const FoundGateway> gateway) {
  co_await leave_waiting_room();
  // Owned here too: `close` may leave the room while the requests are read.
  const auto room = waiting_room_ = std::make_shared<WaitingRoom>(loop_, std::move(gateway), asker_, id_);
  co_await room->approvals.read();
}

Task<> Session::leave_waiting_room() {
  if (!waiting_room_) co_return;
  const auto room = std::move(waiting_room_);
  try {
    co_await room->approvals.stop();
  } catch (const std::exception& error) {
    send(notice("error", "A decision could not be sent", error.what()));
  }
}

Task<> Session::follow() {
  std::string problem;
  try {
    while (!closing_.requested()) {
      const auto event = co_await events_->next();
      if (closing_.requested()) co_return;
      if (event) take(*event);
      if (!missed_run_.empty()) co_await catch_up(std::exchange(missed_run_, {}));
      if (!event && !co_await reconnect()) break;
    }
    problem = "the gateway does not respond";
  } catch (const std::exception& error) {
    problem = error.what();
  }
  events_.reset();
  fail_prompts(problem);
}

/// Waits for a gateway that restarts. Returns false if it did not come back.
Task<bool> Session::reconnect() {
  send(notice("warning", "The connection to the gateway broke"));
  const auto deadline = std::chrono::steady_clock::now() + resubscribe_limit;
  while (std::chrono::steady_clock::now() < deadline) {
    if (co_await try_to_reconnect()) {
      send(notice("info", "The connection to the gateway is back"));
      co_return true;
    }
    if (co_await pause(closing_, resubscribe_interval) == WaitResult::stopped) co_return false;
  }
  co_return false;
}

/// Returns false if no gateway responds; throws if one refuses a request.
Task<bool> Session::try_to_reconnect() {
  try {
    const auto gateway = gateway_.find_running();
    events_ = co_await EventStream::open(*gateway, id_, true);
    co_await attach(gateway);
    co_await catch_up_active();
    co_return true;
  } catch (const ResponseError&) {
    throw;
  } catch (const RpcError&) {
    throw;
  } catch (const std::exception&) {
    co_return false;
  }
}

/// Called after a reconnection: catches up on active runs and pending prompts.
Task<> Session::catch_up_active() {
  std::vector<std::string> open_runs;
  for (const auto& run : runs_) {
    if (!run.has_ended) open_runs.push_back(run.id);
  }
  for (const auto& run : open_runs) co_await catch_up(run);
  const auto waiting = prompts_;
  for (const auto& prompt : waiting) {
    if (!prompt->turn_id.empty() && !prompt->ended.requested()) co_await settle(prompt);
  }
}

Task<> Session::catch_up(std::string run_id) {
  const auto list = co_await gateway_.list(
      path({"threads", id_, "events"}, {{"runId", run_id}, {"after", std::to_string(progress_of(run_id).sequence)}}));
  for (const auto& event : list) take(event.as_object());
  missed_run_.clear();
}

/// Determines the outcome of a prompt whose events may no longer exist.
Task<> Session::settle(PromptPointer prompt) {
  for (int attempt = 0; attempt < settle_attempts; ++attempt) {
    const auto thread = co_await gateway_.get(path({"threads", id_}));
    const auto active = thread.is_object() ? object_or_empty(thread.get_object(), "active_run") : json::object();
    if (string_member(active, "turnId") == prompt->turn_id) {
      co_await catch_up(string_or_empty(active, "runId"));
      co_return;
    }
    if (co_await take_stored(prompt) || !active.empty()) co_return;
    // Between two runs there may briefly be no active one.
    if (co_await pause(closing_, settle_interval) == WaitResult::stopped) co_return;
  }
  prompt->error = "the gateway no longer has an answer to the message: send it again";
  prompt->ended.request();
}

/// Ends the prompt with its stored answer, and sends the part that the client does not have yet.
Task<bool> Session::take_stored(PromptPointer prompt) {
  const auto turns =
      co_await gateway_.list(path({"threads", id_, "turns"}, {{"limit", std::to_string(turns_per_page)}}));
  for (const auto& entry : turns) {
    const auto& turn = entry.as_object();
    const auto metadata = object_or_empty(turn, "metadata");
    if (string_member(turn, "role") != "assistant" || string_member(metadata, "in_reply_to") != prompt->turn_id)
      continue;
    const auto run_id = string_or_empty(metadata, "run_id");
    auto& run = progress_of(run_id);
    const auto content = string_or_empty(turn, "content");
    if (content.size() > run.text_size) {
      const json::object rest{{"type", "text-delta"}, {"runId", run_id}, {"delta", content.substr(run.text_size)}};
      for (auto& update : updates_.of(rest)) send(std::move(update));
    }
    run.has_ended = true;
    prompt->finish_reason = string_or_empty(metadata, "finish_reason");
    prompt->error = string_or_empty(metadata, "error");
    if (prompt->finish_reason == "interrupted") prompt->error = "the gateway was ended while it answered";
    prompt->ended.request();
    co_return true;
  }
  co_return false;
}

void Session::fail_prompts(const std::string& why) {
  for (const auto& prompt : prompts_) {
    prompt->error = why;
    prompt->ended.request();
  }
}

/// Replaces the record of the picture by its content.
Task<> Session::send_picture(json::object update) {
  std::string problem;
  try {
    auto& content = update["content"].as_object();
    const auto gateway = gateway_.find();
    const auto bytes = co_await Client(*gateway).get_text(path({"files", string_or_empty(content, "id")}));
    content = {{"type", "image"}, {"mimeType", string_or_empty(content, "mime")}, {"data", base64(bytes)}};
    send(std::move(update));
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty()) send(notice("warning", "A picture could not be loaded", problem));
}

/// Sends the client the stored turns and then the active run.
Task<> Session::replay() {
  std::vector<json::object> turns;
  Parameters parameters{{"limit", std::to_string(turns_per_page)}};
  while (turns.size() < max_replayed) {
    const auto page = co_await gateway_.list(path({"threads", id_, "turns"}, parameters));
    for (const auto& turn : page) turns.push_back(turn.as_object());
    if (page.size() < turns_per_page) break;
    parameters = {parameters.front(), {"before", string_or_empty(turns.back(), "id")}};
  }
  std::ranges::reverse(turns);
  for (const auto& turn : turns) {
    const auto metadata = object_or_empty(turn, "metadata");
    const auto role = string_or_empty(turn, "role");
    if (role == "user") known_turns_.insert(string_or_empty(turn, "id"));
    if (role != "assistant") continue;
    cost_ += number_or_zero(metadata, "cost_usd");
    if (const auto run = string_or_empty(metadata, "run_id"); !run.empty()) {
      progress_of(run).sequence = std::numeric_limits<std::int64_t>::max();
      progress_of(run).has_ended = true;
    }
  }
  auto updates = updates_.replay(turns);
  std::int64_t left = 0;
  for (const auto& update : updates) left += picture_size(update);
  for (auto& update : updates) {
    const auto size = picture_size(update);
    left -= size;
    if (size == 0) {
      send(std::move(update));
    } else if (left + size <= max_replayed_pictures) {
      co_await send_picture(std::move(update));
    }
  }
  const auto thread = co_await gateway_.get(path({"threads", id_}));
  if (!thread.is_object()) co_return;
  if (const auto* tasks = array_member(thread.get_object(), "tasks"); tasks && !tasks->empty())
    send(EventUpdates::plan(*tasks));
  const auto run = string_or_empty(object_or_empty(thread.get_object(), "active_run"), "runId");
  if (!run.empty()) co_await catch_up(run);
}

void Session::take(const json::object& event) {
  const auto type = string_or_empty(event, "type");
  if (type == "turn-created") return take_turn(object_or_empty(event, "turn"));
  if (type == "extension-changed") {
    const auto changed = string_or_empty(event, "extensionType");
    if (changed == "command" || changed == "agent") group_.spawn(refresh_commands());
    return;
  }
  if (event.contains("seq") && !is_next(event)) return;
  if (waiting_room_) waiting_room_->approvals.take(event);
  if (type == "thread-updated") adopt_mode(string_or_empty(object_or_empty(event, "thread"), "mode"));
  for (auto& update : updates_.of(event)) send(std::move(update));
  tools_.updates_sent();
  if (type == "error") last_error_ = string_or_empty(event, "error");
  if (type == "finish" || type == "stopped") end_run(event, progress_of(string_or_empty(event, "runId")));
}

/// Whether the event is the next one of its run. After a gap, catches up on the run; events before the start of this
/// session do not count as missed.
bool Session::is_next(const json::object& event) {
  auto& run = progress_of(string_or_empty(event, "runId"));
  const auto sequence = integer_or_zero(event, "seq");
  if (sequence <= run.sequence) return false;
  if (run.sequence > 0 && sequence > run.sequence + 1) {
    missed_run_ = run.id;
    return false;
  }
  run.sequence = sequence;
  run.text_size += string_member(event, "type") == "text-delta" ? string_or_empty(event, "delta").size() : 0;
  return true;
}

Session::RunProgress& Session::progress_of(const std::string& run_id) {
  const auto found = std::ranges::find(runs_, run_id, &RunProgress::id);
  if (found != runs_.end()) return *found;
  push_bounded(runs_, RunProgress{.id = run_id}, max_runs);
  return runs_.back();
}

/// Handles a message of the person, unless this client sent it.
void Session::take_turn(const json::object& turn) {
  if (string_member(turn, "role") != "user") return;
  if (posting_ > 0) return push_bounded(early_turns_, turn, max_early);
  if (known_turns_.insert(string_or_empty(turn, "id")).second) send(EventUpdates::user_message(turn));
}

void Session::end_run(const json::object& event, RunProgress& run) {
  run.has_ended = true;
  if (string_member(event, "type") == "finish") send_usage(event);
  Ending ending{
      .turn_id = string_or_empty(event, "turnId"),
      .reason = string_member(event, "type") == "stopped" ? "stopped" : string_or_empty(event, "finishReason"),
      .error = std::exchange(last_error_, {})};
  if (ending.reason == "budget") send(notice("warning", "The answer ended early: the budget for today is spent"));
  if (!end_prompt(ending) && posting_ > 0) push_bounded(endings_, std::move(ending), max_early);
}

/// Returns false if the client waits for no answer to that turn.
bool Session::end_prompt(const Ending& ending) {
  const auto found = std::ranges::find(prompts_, ending.turn_id, [](const auto& prompt) { return prompt->turn_id; });
  if (found == prompts_.end()) return false;
  (*found)->finish_reason = ending.reason;
  (*found)->error = ending.error;
  (*found)->ended.request();
  return true;
}

void Session::send_usage(const json::object& finish) {
  cost_ += number_or_zero(finish, "costUsd");
  const auto used = integer_or_zero(finish, "contextTokens");
  const auto* model = find_model(lists_.models, string_or_empty(finish, "model"));
  const auto size = model ? model->window : 0;
  if (used <= 0 || size <= 0) return;
  send({{"sessionUpdate", "usage_update"},
        {"used", used},
        {"size", size},
        {"cost", json::object{{"amount", cost_}, {"currency", "USD"}}}});
}

}  // namespace agw::cli
