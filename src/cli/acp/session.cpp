#include "cli/acp/session.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"

namespace agw::cli {

namespace {

constexpr std::size_t max_prompts = 16;

json::object cancelled_result() { return {{"stopReason", "cancelled"}}; }

}  // namespace

Session::Session(Loop& loop, RpcPeer& peer, GatewayAccess& gateway, SessionStart start)
    : loop_(loop),
      peer_(peer),
      gateway_(gateway),
      id_(string_or_empty(start.thread, "id")),
      real_directory_(std::move(start.real_directory)),
      lists_(std::move(start.lists)),
      choices_{.mode = string_or_empty(start.thread, "mode"),
               .model = {},
               .agent = string_or_empty(start.thread, "agent_id"),
               .may_lend_terminal = start.abilities.has_terminal},
      abilities_(start.abilities),
      project_to_trust_(std::move(start.project_to_trust)),
      updates_({.directory = start.directory, .shows_compaction = abilities_.compaction}),
      asker_(peer, updates_, id_, start.directory, abilities_),
      tools_(loop, peer, asker_, updates_, [this](json::object update) { send(std::move(update)); },
             {.session_id = id_,
              .directory = start.directory,
              .real_directory = real_directory_,
              .abilities = abilities_,
              .servers = std::move(start.servers),
              .more_directories = std::move(start.more_directories)}),
      sent_(loop),
      group_(loop) {
  group_.on_failure([](std::exception_ptr) {});  // each reports its own failures; only cancellations remain
}

json::object Session::state() const {
  return {{"modes", modes_of(lists_, choices_)}, {"configOptions", config_options(lists_, choices_)}};
}

void Session::send(json::object update) {
  if (string_member(update, "sessionUpdate") == "notice" && !abilities_.notices) return;
  peer_.notify("session/update", {{"sessionId", id_}, {"update", std::move(update)}});
}

void Session::send_commands_and_notices() { send_commands(); }

void Session::send_commands() {
  send({{"sessionUpdate", "available_commands_update"}, {"availableCommands", available_commands(lists_)}});
}

void Session::send_options() {
  send({{"sessionUpdate", "config_option_update"}, {"configOptions", config_options(lists_, choices_)}});
}

Task<> Session::refresh_commands() {
  lists_ = co_await gateway_.lists();
  send_commands();
  send_options();
}

Task<json::object> Session::prompt(json::array blocks, RpcCallPointer call) {
  if (prompts_.size() >= max_prompts)
    throw RpcError(acp_code::invalid_request, "too many prompts wait in this session");
  auto content = prompt_content(blocks);
  const auto prompt = std::make_shared<Prompt>();
  const auto place = prompts_.insert(prompts_.end(), prompt);
  const StopSource::Listener on_cancel(call->cancelled, [this, prompt] {
    prompt->cancelled.request();
    if (!prompt->turn_id.empty()) group_.spawn(stop_answer());
  });
  std::exception_ptr failure;
  try {
    co_await send_in_order(std::move(content), *prompt);
    if (prompt->turn_id.empty()) prompt->ended.request();
    if (prompt->cancelled.requested() && !prompt->turn_id.empty()) co_await stop_answer();
    for (const auto& ending : std::exchange(endings_, {})) end_prompt(ending);
    co_await until_requested(prompt->ended);
  } catch (...) {
    failure = std::current_exception();
  }
  prompts_.erase(place);
  if (failure && !prompt->cancelled.requested()) std::rethrow_exception(failure);
  co_return result_of(*prompt);
}

/// Sends the prompt after those before it, unless it is cancelled first.
Task<> Session::send_in_order(PromptContent content, Prompt& prompt) {
  co_await with_timeout(prompt.cancelled, no_limit, until_first(prompt));
  std::exception_ptr failure;
  try {
    if (!prompt.cancelled.requested()) prompt.turn_id = co_await send_prompt(std::move(content), prompt);
  } catch (...) {
    failure = std::current_exception();
  }
  prompt.is_sent = true;
  sent_.pulse();
  if (failure) std::rethrow_exception(failure);
}

Task<> Session::until_first(const Prompt& prompt) {
  while (std::ranges::find(prompts_, false, &Prompt::is_sent)->get() != &prompt) co_await sent_.wait();
}

/// Returns the id of the stored turn; empty if the prompt was cancelled before it was sent.
Task<std::string> Session::send_prompt(PromptContent content, Prompt& prompt) {
  co_await connect();
  co_await ask_for_trust(prompt.cancelled);
  json::array files;
  for (auto& file : content.files) {
    if (prompt.cancelled.requested()) co_return "";
    files.emplace_back(co_await gateway_.upload(file.name, file.type, std::move(file.bytes)));
  }
  if (prompt.cancelled.requested()) co_return "";
  json::object body{{"threadId", id_}, {"content", std::move(content.text)}, {"agentId", choices_.agent}};
  if (!choices_.model.empty()) body["model"] = choices_.model;
  if (!files.empty()) body["attachments"] = std::move(files);
  const auto lent =
      co_await tools_.lend(*gateway_.find(), choices_.mode != "plan", choices_.lends_terminal, prompt.cancelled);
  if (prompt.cancelled.requested()) co_return "";
  if (!lent.empty()) body["clientTools"] = lent;
  ++posting_;
  std::exception_ptr failure;
  std::string turn;
  try {
    turn = string_or_empty(co_await gateway_.post("/chat", std::move(body)), "id");
    known_turns_.insert(turn);
  } catch (...) {
    failure = std::current_exception();
  }
  if (--posting_ == 0) {
    for (const auto& early : std::exchange(early_turns_, {})) take_turn(early);
  }
  if (failure) std::rethrow_exception(failure);
  co_return turn;
}

Task<> Session::ask_for_trust(StopSource& cancelled) {
  if (project_to_trust_.empty()) co_return;
  const bool is_trusted = co_await asker_.ask_for_trust(real_directory_, cancelled);
  if (cancelled.requested()) co_return;  // the next prompt asks again
  const auto project = std::exchange(project_to_trust_, {});
  if (!is_trusted) co_return;
  co_await gateway_.patch(path({"projects", project}), {{"trusted", true}});
}

json::object Session::result_of(const Prompt& prompt) {
  const auto& reason = prompt.finish_reason;
  if (prompt.cancelled.requested() || reason == "stopped") return cancelled_result();
  if (!prompt.error.empty()) throw RpcError(acp_code::internal_error, prompt.error);
  if (reason == "length") return {{"stopReason", "max_tokens"}};
  if (reason == "max-steps") return {{"stopReason", "max_turn_requests"}};
  if (reason == "content-filter") return {{"stopReason", "refusal"}};
  return {{"stopReason", "end_turn"}};
}

Task<> Session::cancel() {
  bool is_sent = false;
  for (const auto& prompt : prompts_) {
    prompt->cancelled.request();
    is_sent = is_sent || !prompt->turn_id.empty();
  }
  if (is_sent) co_await stop_answer();
}

Task<> Session::stop_answer() {
  std::string problem;
  try {
    co_await gateway_.post("/chat/stop", {{"threadId", id_}});
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (problem.empty()) co_return;
  send(notice("error", "The answer could not be stopped", problem));
  for (const auto& prompt : prompts_) {
    if (prompt->cancelled.requested()) prompt->ended.request();
  }
}

Task<> Session::set_mode(std::string mode) {
  if (!has_record(lists_.modes, "name", mode))
    throw RpcError(acp_code::invalid_params, fmt::format("unknown mode {}", to_json(json::value(mode))));
  const auto thread = co_await gateway_.patch(path({"threads", id_}), {{"mode", mode}});
  adopt_mode(string_or_empty(thread, "mode"));
}

void Session::adopt_mode(const std::string& mode) {
  if (mode.empty() || std::exchange(choices_.mode, mode) == mode) return;
  send({{"sessionUpdate", "current_mode_update"}, {"currentModeId", mode}});
  send_options();
}

Task<> Session::set_option(std::string option, std::string value) {
  if (option == "mode") {
    co_await set_mode(std::move(value));
  } else if (option == "model") {
    if (value != own_model && !find_model(lists_.models, value))
      throw RpcError(acp_code::invalid_params, fmt::format("unknown model {}", to_json(json::value(value))));
    choices_.model = value == own_model ? std::string() : std::move(value);
  } else if (option == "agent") {
    const auto id = agent_id(lists_.agents, value);
    if (id.empty())
      throw RpcError(acp_code::invalid_params, fmt::format("unknown agent {}", to_json(json::value(value))));
    choices_.agent = id;
  } else if (option == "terminal" && choices_.may_lend_terminal) {
    if (value != gateway_terminal && value != editor_terminal)
      throw RpcError(acp_code::invalid_params, fmt::format("unknown terminal {}", to_json(json::value(value))));
    choices_.lends_terminal = value == editor_terminal;
  } else {
    throw RpcError(acp_code::invalid_params, fmt::format("unknown config option {}", to_json(json::value(option))));
  }
}

Task<> Session::close() {
  closing_.request();
  for (const auto& prompt : prompts_) {
    prompt->cancelled.request();
    prompt->ended.request();
  }
  group_.cancel();
  co_await group_.join();
  co_await tools_.close();
  co_await leave_waiting_room();
}

}  // namespace agw::cli
