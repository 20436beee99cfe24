#include "cli/mcp/mcp_server.hpp"

#include <algorithm>

#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "cli/mcp/elicitation.hpp"
#include "features/integrations/protocol.hpp"

namespace agw::cli {

namespace {

constexpr int tools_stay_ms = 60'000;

constexpr auto instructions =
    "Tools of a gateway on the user's machine that runs AI agents. `chat` asks one of its agents and waits for the "
    "answer; `propose` stages a change for the user to decide; the others read what the gateway keeps and run jobs.";

json::object capabilities() { return {{"tools", json::object{}}}; }

json::object tool_result(const McpTools::Result& result) {
  json::object response{{"content", json::array{json::object{{"type", "text"}, {"text", to_utf8(result.text)}}}},
                        {"isError", result.is_error}};
  const auto parsed = parse_json(result.text, {.max_depth = max_own_json_depth});
  if (!result.is_error && parsed && parsed->is_object()) response["structuredContent"] = *parsed;
  return response;
}

}  // namespace

McpServer::McpServer(Loop& loop, const McpTools& tools, Send send)
    : tools_(tools), send_(std::move(send)), calls_(loop) {}

Task<> McpServer::take(std::string message) {
  // The arguments of a call are nested deeper here than in the resulting request.
  auto value = parse_json(message, {.max_depth = max_own_json_depth});
  if (!value) {
    refuse(nullptr, rpc_code::parse_error, "not JSON");
    co_return;
  }
  const auto* object = value->if_object();
  const auto method = object ? string_member(*object, "method") : std::nullopt;
  const auto* id = object ? object->if_contains("id") : nullptr;
  if (!object || string_member(*object, "jsonrpc") != "2.0" || (!method && !id)) {
    refuse(nullptr, rpc_code::invalid_request, "not a JSON-RPC 2.0 message");
  } else if (!id) {
    take_notification(*object);
  } else if (!method && !object->contains("method")) {
    take_result(*object);
  } else if (!id->is_string() && !id->is_int64()) {
    refuse(nullptr, rpc_code::invalid_request, "an id is a string or a whole number");
  } else if (!method) {
    refuse(*id, rpc_code::invalid_request, "a method is a string");
  } else {
    co_await response({*id, std::string(*method), object_or_empty(*object, "params")});
  }
}

Task<WaitResult> McpServer::wait(StopSource& stop, std::chrono::milliseconds limit) {
  return with_timeout(stop, limit, calls_.join());
}

void McpServer::end_asking() {
  can_ask_ = false;
  for (const auto& [id, elicitation] : elicitations_) elicitation->ended.request();
}

Task<std::optional<json::object>> McpServer::ask(json::object request, StopSource& over) {
  const auto id = ++asked_;
  const auto elicitation = elicitations_[id] = std::make_shared<Elicitation>();
  if (can_ask_)
    send_(to_json(json::object{
        {"jsonrpc", "2.0"}, {"id", id}, {"method", "elicitation/create"}, {"params", elicitation_of(request)}}));
  else
    elicitation->ended.request();
  {
    const StopSource::Listener ends(over, [elicitation] { elicitation->ended.request(); });
    co_await until_requested(elicitation->ended);
  }
  elicitations_.erase(id);
  if (!over.requested()) co_return decision_of(request, elicitation->result);
  send_(to_json(json::object{{"jsonrpc", "2.0"},
                             {"method", "notifications/cancelled"},
                             {"params", json::object{{"requestId", id}, {"reason", "it was decided elsewhere"}}}}));
  co_return std::nullopt;
}

/// The client's answer to a question. An error is no answer.
void McpServer::take_result(const json::object& message) {
  const auto* id = message.if_contains("id");
  const auto found = id && id->is_int64() ? elicitations_.find(id->get_int64()) : elicitations_.end();
  if (found == elicitations_.end()) return;
  found->second->result = object_or_empty(message, "result");
  found->second->ended.request();
}

Task<> McpServer::stop() {
  for (const auto& [id, stop] : in_flight_) stop->request();
  co_await calls_.join();
}

void McpServer::take_notification(const json::object& message) {
  if (string_member(message, "method") != "notifications/cancelled") return;
  const auto params = object_or_empty(message, "params");
  const auto* id = params.if_contains("requestId");
  const auto found = id ? in_flight_.find(to_json(*id)) : in_flight_.end();
  if (found != in_flight_.end()) found->second->request();
}

Task<> McpServer::response(McpRequest request) {
  if (!speaks_our_revision(request)) co_return;
  if (request.method == "initialize")
    initialize(request);
  else if (request.method == "server/discover")
    discover(request);
  else if (request.method == "ping")
    reply(request, {});
  else if (request.method == "tools/list")
    calls_.spawn(list_tools(std::move(request)));
  else if (request.method == "tools/call")
    calls_.spawn(finish_call(std::move(request)));
  else
    refuse(request.id, rpc_code::method_not_found, "unknown method " + request.method);
}

/// Requests of the newest revision each name it; for older ones, the handshake did.
bool McpServer::speaks_our_revision(McpRequest& request) {
  const auto meta = object_or_empty(request.params, "_meta");
  const auto version = string_member(meta, mcp_version_key);
  request.is_modern = version.has_value() || request.method == "server/discover";
  if (!version || *version == mcp_modern_version) return true;
  refuse(request.id, rpc_code::unsupported_version, "unsupported protocol version",
         {{"supported", json::array{mcp_modern_version}}, {"requested", *version}});
  return false;
}

void McpServer::initialize(const McpRequest& request) {
  const auto wanted = string_member(request.params, "protocolVersion").value_or("");
  can_ask_ = object_member(object_or_empty(request.params, "capabilities"), "elicitation") != nullptr;
  const bool known = std::ranges::find(mcp_legacy_versions, wanted) != mcp_legacy_versions.end();
  reply(request, {{"protocolVersion", known ? wanted : mcp_legacy_versions.front()},
                  {"capabilities", capabilities()},
                  {"serverInfo", mcp_implementation()},
                  {"instructions", instructions}});
}

void McpServer::discover(const McpRequest& request) {
  json::array versions{mcp_modern_version};
  versions.insert(versions.end(), mcp_legacy_versions.begin(), mcp_legacy_versions.end());
  reply(request, {{"supportedVersions", std::move(versions)},
                  {"capabilities", capabilities()},
                  {"instructions", instructions},
                  {"ttlMs", tools_stay_ms},
                  {"cacheScope", "private"},
                  {"_meta", json::object{{mcp_server_key, mcp_implementation()}}}});
}

Task<> McpServer::list_tools(McpRequest request) {
  std::string problem;
  try {
    json::object result{{"tools", co_await tools_.list()}};
    if (request.is_modern) {
      result["ttlMs"] = tools_stay_ms;
      result["cacheScope"] = "private";
    }
    reply(request, std::move(result));
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty()) refuse(request.id, rpc_code::internal_error, problem);
}

Task<> McpServer::finish_call(McpRequest request) {
  const auto stop = std::make_shared<StopSource>();
  const auto key = to_json(request.id);
  in_flight_[key] = stop;
  std::string problem;
  try {
    co_await call_tool(request, stop);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem.empty()) refuse(request.id, rpc_code::internal_error, problem);
  in_flight_.erase(key);
}

/// A cancelled call gets no response.
Task<> McpServer::call_tool(McpRequest request, std::shared_ptr<StopSource> stop) {
  const auto name = string_or_empty(request.params, "name");
  if (name.empty()) {
    refuse(request.id, rpc_code::invalid_params, "name is required: which tool is called");
    co_return;
  }
  const auto result =
      co_await tools_.call(name, object_or_empty(request.params, "arguments"), *stop, can_ask_ ? this : nullptr);
  if (stop->requested()) co_return;
  if (result)
    reply(request, tool_result(*result));
  else
    refuse(request.id, rpc_code::invalid_params, "unknown tool " + name + std::string(tools_.unavailable_hint()));
}

void McpServer::reply(const McpRequest& request, json::object result) {
  if (request.is_modern) result["resultType"] = "complete";
  send_(to_json(json::object{{"jsonrpc", "2.0"}, {"id", request.id}, {"result", std::move(result)}}));
}

void McpServer::refuse(const json::value& id, std::int64_t code, const std::string& why, json::object data) {
  json::object error{{"code", code}, {"message", to_utf8(why)}};
  if (!data.empty()) error["data"] = std::move(data);
  send_(to_json(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}}));
}

}  // namespace agw::cli
