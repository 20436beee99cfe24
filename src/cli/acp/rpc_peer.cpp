#include "cli/acp/rpc_peer.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/json/json_values.hpp"

namespace agw::cli {

namespace {

bool is_id(const json::value& id) { return id.is_null() || id.is_string() || id.is_int64() || id.is_uint64(); }

json::object message_with(std::string_view member, json::value value) {
  json::object message{{"jsonrpc", "2.0"}};
  message[member] = std::move(value);
  return message;
}

}  // namespace

RpcPeer::RpcPeer(Loop& loop, RpcHandler& handler, Send send)
    : handler_(handler), send_(std::move(send)), group_(loop) {}

void RpcPeer::take(std::string_view line) {
  auto value = parse_json(line);
  if (!value) return refuse(nullptr, acp_code::parse_error, "not JSON, or nested too deeply");
  if (value->is_array()) return refuse(nullptr, acp_code::invalid_request, "batches are not supported");
  if (!value->is_object()) return refuse(nullptr, acp_code::invalid_request, "a message is an object");
  take_message(std::move(value->get_object()));
}

void RpcPeer::refuse_line(std::size_t limit) {
  refuse(nullptr, acp_code::invalid_request, fmt::format("a message is longer than {} MiB", limit >> 20));
}

void RpcPeer::take_message(json::object message) {
  const auto* id = message.if_contains("id");
  const auto* method = message.if_contains("method");
  const bool is_response = message.contains("result") || message.contains("error");
  if (string_member(message, "jsonrpc") != "2.0") {
    // The id in a response is one of ours, which a client must not mistake for its own.
    refuse(id && is_id(*id) && !is_response ? *id : nullptr, acp_code::invalid_request, "not a JSON-RPC 2.0 message");
  } else if (!method && id && is_response) {
    take_response(message);
  } else if (!method || !method->is_string()) {
    refuse(id && is_id(*id) ? *id : nullptr, acp_code::invalid_request, "a method is a string");
  } else if (id && !is_id(*id)) {
    refuse(nullptr, acp_code::invalid_request, "an id is a string, a whole number or null");
  } else if (id) {
    take_request(std::move(message), json::value(*id));
  } else if (string_member(message, "method") == "$/cancel_request") {
    cancel(object_or_empty(message, "params"));
  } else if (group_.size() < 2 * max_requests) {
    group_.spawn(notified(string_or_empty(message, "method"), object_or_empty(message, "params")));
  }
}

void RpcPeer::take_request(json::object message, const json::value& id) {
  const auto* params = message.if_contains("params");
  if (params && !params->is_object() && !params->is_null())
    return refuse(id, acp_code::invalid_params, "params is an object");
  if (answering_.size() >= max_requests)
    return refuse(id, acp_code::internal_error, fmt::format("more than {} requests at a time", max_requests));
  auto call = std::make_shared<RpcCall>();
  call->id = id;
  if (!answering_.emplace(to_json(id), call).second)
    return refuse(id, acp_code::invalid_request, "another request with this id is being answered");
  group_.spawn(answer(string_or_empty(message, "method"), object_or_empty(message, "params"), std::move(call)));
}

void RpcPeer::take_response(const json::object& message) {
  const auto& id = message.at("id");
  const auto found = id.is_int64() ? asked_.find(id.get_int64()) : asked_.end();
  if (found == asked_.end() || found->second->ended.requested()) return;
  found->second->response = message;
  found->second->ended.request();
}

Task<> RpcPeer::answer(std::string method, json::object params, RpcCallPointer call) {
  json::object message;
  std::int64_t code = 0;
  std::string problem;
  try {
    message = message_with("result", co_await handler_.answer(std::move(method), std::move(params), call));
  } catch (const RpcError& error) {
    code = error.code();
    problem = error.what();
  } catch (const std::exception& error) {
    code = acp_code::internal_error;
    problem = error.what();
  }
  answering_.erase(to_json(call->id));
  if (code == 0) {
    message["id"] = call->id;
    send_(to_json(message));
  } else {
    refuse(call->id, code, problem);
  }
  for (const auto& action : call->afterwards) action();
}

Task<> RpcPeer::notified(std::string method, json::object params) {
  try {
    co_await handler_.notified(std::move(method), std::move(params));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): a notification has no response.
  }
}

void RpcPeer::cancel(const json::object& params) {
  const auto* id = params.if_contains("requestId");
  const auto found = id ? answering_.find(to_json(*id)) : answering_.end();
  if (found == answering_.end()) return;
  const auto call = found->second;
  call->cancelled.request();
}

void RpcPeer::notify(std::string_view method, json::object params) {
  auto message = message_with("method", json::string(method));
  message["params"] = std::move(params);
  send_(to_json(message));
}

Task<json::object> RpcPeer::ask(std::string method, json::object params, StopSource& over) {
  if (!can_ask_ || over.requested()) throw RpcError(acp_code::cancelled, "the client is no longer asked");
  const auto id = ++last_asked_;
  const auto asked = asked_[id] = std::make_shared<Asked>();
  send_request(id, method, std::move(params));
  {
    const StopSource::Listener ends(over, [asked] { asked->ended.request(); });
    co_await until_requested(asked->ended);
  }
  asked_.erase(id);
  if (asked->response.empty()) {
    if (can_ask_) notify("$/cancel_request", {{"requestId", id}});
    throw RpcError(acp_code::cancelled, "the request was cancelled");
  }
  if (const auto* error = asked->response.if_contains("error")) {
    const auto* members = error->if_object();
    const auto why = members ? string_or_empty(*members, "message") : to_json(*error);
    throw RpcError(acp_code::internal_error, fmt::format("the client's response to {}: {}", method, why));
  }
  co_return object_or_empty(asked->response, "result");
}

void RpcPeer::request(std::string_view method, json::object params) {
  if (can_ask_) send_request(++last_asked_, method, std::move(params));
}

void RpcPeer::send_request(std::int64_t id, std::string_view method, json::object params) {
  auto message = message_with("id", id);
  message["method"] = method;
  message["params"] = std::move(params);
  send_(to_json(message));
}

void RpcPeer::end_asking() {
  can_ask_ = false;
  for (const auto& [id, asked] : asked_) asked->ended.request();
}

Task<> RpcPeer::stop(std::chrono::milliseconds limit) {
  StopSource never;
  if (co_await with_timeout(never, limit, group_.join()) == WaitResult::done) co_return;
  group_.cancel();
  co_await group_.join();
}

void RpcPeer::refuse(const json::value& id, std::int64_t code, std::string_view why) {
  auto message = message_with("error", json::object{{"code", code}, {"message", to_utf8(why)}});
  message["id"] = id;
  send_(to_json(message));
}

}  // namespace agw::cli
