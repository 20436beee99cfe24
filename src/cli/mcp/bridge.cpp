// Connects standard input and output with `/mcp`. Requests are forwarded concurrently, each with its own stream of
// messages. The bridge opens a session on demand, and a new one after a restart of the gateway.

#include "cli/mcp/bridge.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"

namespace agw::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto until_cancelled_again = 300ms;
constexpr int cancel_attempts = 20;
constexpr auto bridge_reconnect_interval = 1s;
constexpr auto time_to_say_goodbye = 2s;
constexpr int unknown_session = 404;

std::string own_initialize() {
  return to_json(json::object{
      {"jsonrpc", "2.0"},
      {"id", "agw"},
      {"method", "initialize"},
      {"params", json::object{{"protocolVersion", mcp_legacy_versions.front()},
                              {"capabilities", json::object()},
                              {"clientInfo", json::object{{"name", "agw mcp"}, {"version", AGW_VERSION}}}}}});
}

/// A header's value, encoded if it could not be sent otherwise (Streamable HTTP of 2026-07-28, value encoding).
std::string header_value(const std::string& text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  const bool is_padded = text.starts_with(' ') || text.ends_with(' ') || text.starts_with("=?base64?");
  if (is_plain && !is_padded) return text;
  auto encoded = to_base64url(text);
  std::ranges::replace(encoded, '-', '+');
  std::ranges::replace(encoded, '_', '/');
  while (encoded.size() % 4 != 0) encoded += '=';
  return "=?base64?" + encoded + "?=";
}

bool is_rpc(std::string_view body) { return body.starts_with("{\"jsonrpc\"") || body.starts_with("[{\"jsonrpc\""); }

Task<> store_result(Task<McpHttpResponse> task, McpHttpResponse& response) { response = co_await std::move(task); }

}  // namespace

McpBridge::McpBridge(Loop& loop, Options options, Send send)
    : options_(std::move(options)), send_(std::move(send)), active_(loop), background_(loop) {}

McpBridge::Message McpBridge::read(std::string text) {
  Message message{.text = std::move(text)};
  const auto value = parse_json(message.text, {.max_depth = max_own_json_depth});
  const auto* object = value ? value->if_object() : nullptr;
  if (!object) return message;
  message.is_json_rpc = string_member(*object, "jsonrpc") == "2.0";
  message.method = string_or_empty(*object, "method");
  const auto* id = object->if_contains("id");
  if (id && object->contains("method")) message.id = *id;
  if (id && !object->contains("method")) message.answers = to_json(*id);
  const auto params = object_or_empty(*object, "params");
  message.target = string_or_empty(params, "name") + string_or_empty(params, "uri");
  message.version = string_or_empty(object_or_empty(params, "_meta"), mcp_version_key);
  if (message.method == "server/discover" && message.version.empty()) message.version = mcp_modern_version;
  return message;
}

McpHttpRequest McpBridge::request_for(const Message& message) const {
  McpHttpRequest request{.method = "POST", .path = options_.all ? "/mcp?tools=all" : "/mcp", .body = message.text};
  if (!message.version.empty()) {
    request.headers = {{"MCP-Protocol-Version", header_value(message.version)},
                       {"Mcp-Method", header_value(message.method)}};
    if (!message.target.empty()) request.headers.emplace_back("Mcp-Name", header_value(message.target));
  } else if (!session_.empty() && message.method != "initialize") {
    request.headers = {{"Mcp-Session-Id", session_}};
    if (!version_.empty()) request.headers.emplace_back("MCP-Protocol-Version", version_);
  }
  return request;
}

Task<> McpBridge::take(std::string line) {
  auto message = read(std::move(line));
  if (message.method == "notifications/cancelled" && message.id.is_null()) {
    const auto value = parse_json(message.text, {.max_depth = max_own_json_depth});
    const auto params = object_or_empty(value->as_object(), "params");
    const auto* id = params.if_contains("requestId");
    if (id) active_.spawn(cancel(message, to_json(*id)));
    co_return;
  }
  if (message.id.is_null() || message.method == "initialize") {
    asked_.erase(message.answers);
    co_await pass(std::move(message));
    co_return;
  }
  const auto call = std::make_shared<Call>();
  call->method = message.method;
  call->is_modern = !message.version.empty();
  calls_[to_json(message.id)] = call;
  active_.spawn(answer(std::move(message), call));
}

/// Forwards messages without a response, and the handshake: the next message waits for them.
Task<> McpBridge::pass(Message message) {
  std::string problem;
  try {
    if (message.method == "initialize" && message.is_json_rpc) {
      initialize_ = message.text;
      co_await open_session(message.text);
      if (!session_.empty()) listen();
    } else {
      const auto response = co_await send(message);
      if (is_rpc(response.body)) send_(response.body);
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty()) fail(message, problem);
}

Task<> McpBridge::answer(Message message, std::shared_ptr<Call> call) {
  std::string problem;
  McpHttpResponse response;
  try {
    const auto end = co_await with_timeout(call->abandoned, no_limit, store_result(send(message), response));
    if (end == WaitResult::done && !call->is_cancelled) give(response, message);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  const auto key = to_json(message.id);
  if (const auto found = calls_.find(key); found != calls_.end() && found->second == call) calls_.erase(found);
  if (!problem.empty() && !call->is_cancelled) fail(message, problem);
}

/// Sends a message, within the session unless it names its revision; replaces a lost session.
Task<McpHttpResponse> McpBridge::send(Message message) {
  if (message.method == "server/discover") wait_for_gateway();
  const auto gateway = find_gateway(options_.data_dir);
  const auto on_message = [this](std::string_view text) { deliver_message(text); };
  const bool in_session = message.version.empty() && message.is_json_rpc;
  if (in_session) co_await ensure_session();
  const auto session = session_;
  auto response = co_await exchange(gateway, request_for(message), on_message);
  if (!in_session || response.status != unknown_session) co_return response;
  if (session == session_) session_.clear();
  co_await ensure_session();
  co_return co_await exchange(gateway, request_for(message), on_message);
}

/// The first message of a client waits for a gateway that starts at the same time, as after a login.
void McpBridge::wait_for_gateway() const { wait_until_up(data_directory(options_.data_dir)); }

Task<> McpBridge::ensure_session() {
  if (session_.empty()) co_await open_session({});
}

/// Performs the handshake: with the client's current message, which gets the result, with the one that it sent before,
/// or with our own.
Task<> McpBridge::open_session(std::string initialize) {
  const bool is_clients = !initialize.empty();
  if (is_clients) wait_for_gateway();
  const auto repeated = initialize_.empty() ? own_initialize() : initialize_;
  const auto message = read(is_clients ? initialize : repeated);
  const auto response = co_await exchange(find_gateway(options_.data_dir), request_for(message), [](auto) {});
  if (is_clients && is_rpc(response.body)) send_(response.body);
  if (response.session.empty() && !is_clients)
    throw std::runtime_error(fmt::format("the gateway refused the handshake with status {}", response.status));
  if (is_clients && !is_rpc(response.body)) fail(message, fmt::format("status {}", response.status));
  const auto value = parse_json(response.body, {.max_depth = max_own_json_depth});
  const auto result = value && value->is_object() ? object_or_empty(value->get_object(), "result") : json::object();
  if (response.session.empty()) co_return;
  session_ = response.session;
  version_ = string_or_empty(result, "protocolVersion");
}

void McpBridge::give(const McpHttpResponse& response, const Message& message) {
  if (is_rpc(response.body))
    send_(response.body);
  else if (!response.body.empty())
    fail(message, fmt::format("status {}: {}", response.status, response.body));
}

/// Handles a message from a stream.
void McpBridge::deliver_message(std::string_view text) {
  const auto value = parse_json(text, {.max_depth = max_own_json_depth});
  const auto* object = value ? value->if_object() : nullptr;
  if (!object) return;
  const auto* id = object->if_contains("id");
  const auto key = id ? to_json(*id) : std::string();
  if (id && object->contains("method")) {
    if (is_over_) {
      active_.spawn(decline(key));
      return;
    }
    asked_.insert(key);
  } else if (id) {
    const auto call = calls_.find(key);
    if (call != calls_.end() && call->second->is_cancelled) return;
  }
  send_(std::string(text));
}

/// Reports a failure to reach the gateway as a failure of the tool, so that the model can retry.
void McpBridge::fail(const Message& message, const std::string& why) {
  if (message.id.is_null()) return;
  json::object response{{"jsonrpc", "2.0"}, {"id", message.id}};
  if (message.method == "tools/call") {
    response["result"] = json::object{{"content", json::array{json::object{{"type", "text"}, {"text", to_utf8(why)}}}},
                                      {"isError", true}};
  } else {
    response["error"] = json::object{{"code", rpc_code::internal_error}, {"message", to_utf8(why)}};
  }
  send_(to_json(response));
}

/// In a session, the request may still be in transit on another connection, so the notification is repeated.
Task<> McpBridge::cancel(Message message, std::string id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) co_return;
  const auto call = found->second;
  call->is_cancelled = true;
  if (call->is_modern) call->abandoned.request();
  for (int attempt = 0; attempt < cancel_attempts && calls_.contains(id) && !call->is_modern; ++attempt) {
    co_await pass(message);
    if (co_await pause(stopping_, until_cancelled_again) == WaitResult::stopped) break;
  }
  call->abandoned.request();
}

void McpBridge::listen() {
  if (background_.size() == 0) background_.spawn(read_notifications());
}

/// Reads the session's general stream, and reconnects whenever it ends.
Task<> McpBridge::read_notifications() {
  do {
    if (session_.empty()) continue;
    const McpHttpRequest request{
        .method = "GET", .path = "/mcp", .headers = {{"Mcp-Session-Id", session_}, {"MCP-Protocol-Version", version_}}};
    try {
      McpHttpResponse response;
      const auto on_message = [this](std::string_view text) { deliver_message(text); };
      co_await with_timeout(stopping_, no_limit,
                            store_result(exchange(find_gateway(options_.data_dir), request, on_message), response));
    } catch (const std::exception&) {
      // The gateway is unreachable, which the client's next request reports.
      continue;
    }
  } while (co_await pause(stopping_, bridge_reconnect_interval) == WaitResult::done);
}

/// Declines a request of the gateway that cannot be answered.
Task<> McpBridge::decline(std::string id) {
  const auto parsed = parse_json(id);
  co_await pass(read(to_json(json::object{
      {"jsonrpc", "2.0"}, {"id", parsed.value_or(nullptr)}, {"result", json::object{{"action", "cancel"}}}})));
}

Task<WaitResult> McpBridge::wait(StopSource& stop, std::chrono::milliseconds limit) {
  return with_timeout(stop, limit, active_.join());
}

Task<> McpBridge::end_asking() {
  is_over_ = true;
  for (const auto& id : std::exchange(asked_, {})) co_await decline(id);
  for (const auto& [id, call] : std::map(calls_)) {
    if (call->method == "subscriptions/listen") call->abandoned.request();
  }
}

Task<> McpBridge::stop() {
  stopping_.request();
  if (!session_.empty()) {
    const McpHttpRequest request{.method = "DELETE", .path = "/mcp", .headers = {{"Mcp-Session-Id", session_}}};
    try {
      StopSource never;
      McpHttpResponse response;
      co_await with_timeout(never, time_to_say_goodbye,
                            store_result(exchange(find_gateway(options_.data_dir), request, [](auto) {}), response));
    } catch (const std::exception&) {
      // The session ended with the gateway.
      session_.clear();
    }
  }
  for (const auto& [id, call] : std::map(calls_)) {
    call->is_cancelled = true;
    call->abandoned.request();
  }
  co_await active_.join();
  co_await background_.join();
}

}  // namespace agw::cli
