// The methods of MCP, independent of HTTP and sessions: `answer` is the table of methods. Tools, prompts and resources
// each have a class; this file parses and checks requests and forwards them.

#include "server/mcp/methods.hpp"

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/containers.hpp"
#include "base/json/json_size.hpp"
#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

constexpr int lists_stay_ms = 60'000;
constexpr int method_not_found_status = 404;
constexpr std::size_t max_completions = 100;

constexpr auto instructions =
    "Tools of a gateway on the user's machine that runs AI agents. `chat` and `ask_<agent>` ask one of its agents and "
    "wait for the answer; `propose` stages a change for the user to decide; the others read what the gateway keeps and "
    "run jobs. Its resources are knowledge pages, threads and proposals; its prompts are the user's commands.";

constexpr auto propose_description = R"({
  "name": "propose", "title": "Propose a change",
  "description": "Stage a change that a person then applies or rejects. Nothing else is touched",
  "inputSchema": {"type": "object", "required": ["type", "title", "target", "content"], "properties": {
    "type": {"type": "string", "enum": ["soul", "extension", "file", "knowledge"]},
    "title": {"type": "string", "description": "A line that says what it does"},
    "target": {"type": "string", "description": "The file to change, absolute or relative to the data directory"},
    "content": {"type": "string", "description": "The whole new content of the target"},
    "reason": {"type": "string", "description": "Why"}}},
  "annotations": {"readOnlyHint": false, "destructiveHint": false}})";

/// Methods that need a session, and methods that exist only without one.
constexpr std::array<std::string_view, 4> of_sessions{"ping", "logging/setLevel", "resources/subscribe",
                                                      "resources/unsubscribe"};
constexpr std::array<std::string_view, 2> without_session{"server/discover", "subscriptions/listen"};
constexpr std::array<std::string_view, 8> levels{"debug", "info",     "notice", "warning",
                                                 "error", "critical", "alert",  "emergency"};

json::object shared_capabilities() {
  return {{"completions", json::object()},
          {"prompts", json::object{{"listChanged", true}}},
          {"resources", json::object{{"subscribe", true}, {"listChanged", true}}},
          {"tools", json::object{{"listChanged", true}}}};
}

/// The member `name` or `uri`, which the request must have.
std::string required(const json::object& params, std::string_view member, std::string_view what) {
  auto text = string_or_empty(params, member);
  if (text.empty()) throw McpError(rpc_code::invalid_params, fmt::format("{} is required: which {}", member, what));
  return text;
}

ApiCall proposal_call(json::object input) {
  input["agent"] = "mcp";
  return {.method = "POST", .segments = {"propose"}, .body = to_json(input)};
}

json::object completion(std::vector<std::string> values) {
  const auto total = values.size();
  if (values.size() > max_completions) values.resize(max_completions);
  return {{"completion", json::object{{"values", json::array(values.begin(), values.end())},
                                      {"total", total},
                                      {"hasMore", total > values.size()}}}};
}

}  // namespace

McpMethods::McpMethods(const McpServices& services, const ApiCaller& api, McpClientSessions& sessions,
                       std::string fixture_url)
    : services_(services),
      api_(api),
      routes_(api),
      chats_(services.loop, services.hub, services.extensions, api,
             [this](const auto& thread_id, const auto& turn_id) { stop_run(thread_id, turn_id); }),
      prompts_(services.extensions),
      resources_(api),
      changes_(services.loop, services.hub, sessions, resources_),
      fixture_(services.http, std::move(fixture_url), [this](std::string_view what) { changes_.list_changed(what); }) {}

void McpMethods::stop() {
  chats_.stop();
  fixture_.stop();
}

void McpMethods::stop_run(const std::string& thread_id, const std::string& turn_id) {
  for (const auto& active : services_.runs.of_thread(thread_id)) {
    if (active->run.turn_id == turn_id) services_.engine.end_soon(active);
  }
}

json::object McpMethods::initialized(std::string_view version) {
  auto capabilities = shared_capabilities();
  capabilities["logging"] = json::object();
  return {{"protocolVersion", version},
          {"capabilities", std::move(capabilities)},
          {"serverInfo", mcp_implementation()},
          {"instructions", instructions}};
}

json::object McpMethods::discovered() {
  json::array versions{mcp_modern_version};
  versions.insert(versions.end(), mcp_legacy_versions.begin(), mcp_legacy_versions.end());
  return {{"supportedVersions", std::move(versions)},
          {"capabilities", shared_capabilities()},
          {"instructions", instructions},
          {"ttlMs", lists_stay_ms},
          {"cacheScope", "private"},
          {"_meta", json::object{{mcp_server_key, mcp_implementation()}}}};
}

Task<std::optional<json::object>> McpMethods::answer(McpExchangePointer exchange) {
  const auto& method = exchange->method;
  const bool known = exchange->is_modern ? !contains(of_sessions, method) : !contains(without_session, method);
  if (known && method == "server/discover") co_return discovered();
  if (known && method == "ping") co_return json::object();
  if (known && method.ends_with("/list")) co_return co_await list(exchange);
  if (known && method == "tools/call") co_return co_await call_tool(exchange);
  if (known && method == "prompts/get") co_return co_await get_prompt(exchange);
  if (known && method == "resources/read") co_return co_await read_resource(exchange);
  if (known && method == "completion/complete") co_return co_await complete(exchange);
  if (known && method == "logging/setLevel") co_return set_level(*exchange);
  if (known && method.starts_with("resources/") && method.ends_with("subscribe"))
    co_return co_await subscribe(exchange);
  if (known && method == "subscriptions/listen") co_return co_await changes_.listen(exchange);
  throw McpError(rpc_code::method_not_found, "unknown method " + method, {},
                 exchange->is_modern ? method_not_found_status : 200);
}

Task<json::object> McpMethods::list(McpExchangePointer exchange) {
  const auto& method = exchange->method;
  if (exchange->session) exchange->session->listed.insert(method.substr(0, method.find('/')));
  json::object result;
  std::string member = method.substr(0, method.find('/'));
  if (method == "tools/list") {
    auto tools = chats_.list();
    tools.emplace_back(*parse_json(propose_description));
    append(tools, routes_.list(exchange->offers_all));
    result["tools"] = std::move(tools);
  } else if (method == "prompts/list") {
    result["prompts"] = prompts_.list();
  } else if (method == "resources/templates/list") {
    member = "resourceTemplates";
    result[member] = Resources::templates();
  } else if (method == "resources/list") {
    result = co_await resources_.list(exchange->params);
  } else {
    throw McpError(rpc_code::method_not_found, "unknown method " + method, {},
                   exchange->is_modern ? method_not_found_status : 200);
  }
  if (method != "resources/list" && exchange->params.contains("cursor"))
    throw McpError(rpc_code::invalid_params, "unknown cursor");
  co_await fixture_.extend(exchange, member, result);
  if (exchange->is_modern) {
    result["ttlMs"] = lists_stay_ms;
    result["cacheScope"] = "private";
  }
  co_return result;
}

Task<std::optional<json::object>> McpMethods::call_tool(McpExchangePointer exchange) {
  const auto name = string_or_empty(exchange->params, "name");
  if (name.empty()) throw McpError(rpc_code::invalid_params, "name is required: which tool is called");
  const auto* arguments = exchange->params.if_contains("arguments");
  if (arguments && !arguments->is_object() && !arguments->is_null())
    throw McpError(rpc_code::invalid_params, "arguments must be an object");
  const bool is_own = name == "propose" || chats_.has(name) || routes_.has(name, exchange->offers_all);
  if (is_own) co_return co_await call_own_tool(exchange, name);
  if (fixture_.is_present()) co_return co_await fixture_.answer(exchange);
  const auto* hint = exchange->offers_all ? "" : "; tools that change or execute need `agw mcp --all`, or ?tools=all";
  throw McpError(rpc_code::invalid_params, "unknown tool " + name + hint);
}

/// Failures of a tool become results, which the model reads.
Task<std::optional<json::object>> McpMethods::call_own_tool(McpExchangePointer exchange, std::string name) {
  std::string problem;
  try {
    if (chats_.has(name)) co_return co_await chats_.call(exchange);
    auto input = take_object(exchange->params, "arguments");
    const bool is_large = json_size(input, large_mcp_text) >= large_mcp_text;
    auto call = co_await api_.blocking().run_if(is_large, [&] {
      return name == "propose" ? proposal_call(std::move(input)) : routes_.call_of(name, std::move(input));
    });
    if (name == "propose") co_return text_result(co_await propose(std::move(call)));
    const auto text = co_await api_.text(std::move(call));
    co_return co_await api_.blocking().run_if(text.size() > large_mcp_text, [&text] { return text_result(text); });
  } catch (const ToolFailure& failure) {
    problem = failure.what();
  }
  co_return error_result(problem);
}

Task<std::string> McpMethods::propose(ApiCall call) {
  const auto value = co_await api_.ask(std::move(call));
  const auto& staged = value.as_object();
  co_return fmt::format("staged as proposal {}/{}/{}", string_or_empty(staged, "agent"),
                        string_or_empty(staged, "date"), string_or_empty(staged, "name"));
}

Task<std::optional<json::object>> McpMethods::get_prompt(McpExchangePointer exchange) {
  const auto name = required(exchange->params, "name", "prompt");
  if (!prompts_.has(name) && fixture_.is_present()) co_return co_await fixture_.answer(exchange);
  co_return prompts_.get(exchange->params);
}

Task<std::optional<json::object>> McpMethods::read_resource(McpExchangePointer exchange) {
  const auto uri = required(exchange->params, "uri", "resource");
  std::optional<json::object> result;
  if (!is_resource_uri(uri) && fixture_.is_present()) {
    result = co_await fixture_.answer(exchange);
  } else if (auto contents = co_await resources_.read(uri)) {
    result = json::object{{"contents", std::move(*contents)}};
  } else {
    throw McpError(exchange->is_modern ? rpc_code::invalid_params : rpc_code::resource_not_found, "resource not found",
                   {{"uri", uri}});
  }
  if (result && exchange->is_modern && !result->contains("resultType")) {
    result->emplace("ttlMs", 0);
    result->emplace("cacheScope", "private");
  }
  co_return result;
}

Task<std::optional<json::object>> McpMethods::complete(McpExchangePointer exchange) {
  const auto ref = object_or_empty(exchange->params, "ref");
  const auto argument = object_or_empty(exchange->params, "argument");
  const auto type = string_or_empty(ref, "type");
  const auto variable = required(argument, "name", "argument is completed");
  if (type == "ref/prompt" && prompts_.has(string_or_empty(ref, "name"))) co_return completion({});
  if (type == "ref/resource") {
    const auto known = object_or_empty(object_or_empty(exchange->params, "context"), "arguments");
    const auto values =
        co_await resources_.complete(string_or_empty(ref, "uri"), variable, string_or_empty(argument, "value"), known);
    if (values) co_return completion(*values);
  }
  if (fixture_.is_present()) co_return co_await fixture_.answer(exchange);
  throw McpError(rpc_code::invalid_params, "ref names no prompt and no resource template");
}

Task<json::object> McpMethods::subscribe(McpExchangePointer exchange) {
  const auto uri = required(exchange->params, "uri", "resource");
  auto& subscriptions = exchange->session->subscriptions;
  if (exchange->method == "resources/unsubscribe") {
    subscriptions.erase(uri);
    co_return json::object();
  }
  if (!is_resource_uri(uri) && !fixture_.is_present())
    throw McpError(rpc_code::resource_not_found, "resource not found", {{"uri", uri}});
  if (subscriptions.size() >= McpClientSession::max_subscriptions)
    throw McpError(rpc_code::invalid_params, "too many subscriptions");
  subscriptions.insert(uri);  // before anything is waited for: requests at the same time count
  try {
    co_await changes_.remember(uri);
  } catch (...) {
    subscriptions.erase(uri);
    throw;
  }
  co_return json::object();
}

json::object McpMethods::set_level(const McpExchange& exchange) {
  const auto level = string_or_empty(exchange.params, "level");
  if (!contains(levels, level))
    throw McpError(rpc_code::invalid_params,
                   "level must be one of debug, info, notice, warning, error, critical, alert, emergency");
  exchange.session->log_level = level;
  return {};
}

}  // namespace agw
