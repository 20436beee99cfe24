#include "server/mcp/fixture.hpp"

#include <utility>

#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

constexpr std::size_t fixture_state_bytes = 16;

/// The client capability that the method needs: `roots` for `roots/list`.
std::string capability_for(std::string_view method) { return std::string(method.substr(0, method.find('/'))); }

std::string request_of(const McpExchange& exchange) {
  return exchange.method + ' ' + string_or_empty(exchange.params, "name") + string_or_empty(exchange.params, "uri");
}

/// The requests that the client can answer. Throws McpError if there is none.
json::object answerable(const McpExchange& exchange, const json::object& requests) {
  json::object possible;
  json::object needed;
  for (const auto& request : requests) {
    const auto capability = capability_for(string_or_empty(request.value().as_object(), "method"));
    if (exchange.can(capability))
      possible.insert(request);
    else
      needed[capability] = json::object();
  }
  if (possible.empty())
    throw McpError(rpc_code::missing_capability, "the client lacks a capability that this request needs",
                   {{"requiredCapabilities", std::move(needed)}}, 400);
  return possible;
}

void throw_error_in(const json::object& reply) {
  const auto* error = object_member(reply, "error");
  if (!error) return;
  const auto code = error->if_contains("code") ? error->at("code").to_number<std::int64_t>() : 0;
  const int status = code == rpc_code::missing_capability ? 400 : 200;
  throw McpError(code, string_or_empty(*error, "message"), object_or_empty(*error, "data"), status);
}

}  // namespace

McpFixture::McpFixture(HttpClient& http, std::string url, ListChanged list_changed)
    : http_(http), url_(std::move(url)), list_changed_(std::move(list_changed)) {}

Task<> McpFixture::extend(McpExchangePointer exchange, std::string member, json::object& result) {
  if (!is_present()) co_return;
  const auto reply = co_await ask(exchange, {}, nullptr);
  const auto listed = object_or_empty(reply, "result");
  const auto* more = array_member(listed, member);
  if (!more) co_return;
  auto& list = result[member].as_array();
  list.insert(list.end(), more->begin(), more->end());
}

Task<std::optional<json::object>> McpFixture::answer(McpExchangePointer exchange) {
  auto state = state_of(*exchange);
  auto inputs = object_or_empty(exchange->params, "inputResponses");
  for (;;) {
    const auto reply = co_await ask(exchange, std::move(inputs), std::move(state));
    if (exchange->stop.requested()) co_return std::nullopt;
    throw_error_in(reply);
    const auto* requests = object_member(reply, "inputRequests");
    if (!requests) co_return object_or_empty(reply, "result");
    auto possible = answerable(*exchange, *requests);
    state = reply.if_contains("state") ? reply.at("state") : json::value();
    if (exchange->is_modern) co_return input_required(*exchange, std::move(possible), std::move(state));
    inputs = co_await inputs_from(exchange, std::move(possible));
    if (exchange->stop.requested()) co_return std::nullopt;
  }
}

Task<json::object> McpFixture::ask(McpExchangePointer exchange, json::object inputs, json::value state) {
  HttpRequest request{.method = "POST", .url = url_};
  request.body = to_json(json::object{{"method", exchange->method},
                                      {"params", exchange->params},
                                      {"capabilities", exchange->capabilities},
                                      {"inputs", std::move(inputs)},
                                      {"state", std::move(state)}});
  std::string body;
  const auto read = [&body](const HttpHead&, std::string_view bytes) {
    body += bytes;
    return BodyAction::more;
  };
  const auto outcome = co_await http_.send(std::move(request), read, exchange->stop);
  if (outcome.end == HttpOutcome::End::stopped) co_return json::object();
  const auto value = parse_json(body, {.max_depth = max_own_json_depth});
  if (!value || !value->is_object())
    throw McpError(rpc_code::internal_error, "the fixture did not answer: " + outcome.error);
  auto reply = value->get_object();
  if (const auto* notifications = array_member(reply, "notifications")) {
    for (const auto& one : *notifications) {
      exchange->stream->push(
          mcp_notification(string_or_empty(one.as_object(), "method"), object_or_empty(one.as_object(), "params")));
    }
  }
  for (const auto& what : strings_of(reply, "changed")) list_changed_(what);
  co_return reply;
}

json::value McpFixture::state_of(const McpExchange& exchange) {
  const auto given = string_member(exchange.params, "requestState");
  if (!given) return nullptr;
  const auto found = waiting_.find(*given);
  if (found == waiting_.end() || found->second.request != request_of(exchange))
    throw McpError(rpc_code::invalid_params, "unknown or expired requestState: send the request again without it");
  auto state = std::move(found->second.state);
  waiting_.erase(found);
  return state;
}

json::object McpFixture::input_required(const McpExchange& exchange, json::object requests, json::value state) {
  if (waiting_.size() >= max_waiting) waiting_.erase(waiting_.begin());
  const auto key = random_hex(fixture_state_bytes);
  waiting_[key] = {.request = request_of(exchange), .state = std::move(state)};
  return {{"resultType", "input_required"}, {"inputRequests", std::move(requests)}, {"requestState", key}};
}

/// Sends the requests to a client with a session, one after the other.
Task<json::object> McpFixture::inputs_from(McpExchangePointer exchange, json::object requests) {
  json::object inputs;
  for (const auto& request : requests) {
    StopSource never;
    const auto& asked = request.value().as_object();
    auto answer = co_await exchange->session->ask(exchange, string_or_empty(asked, "method"),
                                                  object_or_empty(asked, "params"), never);
    if (answer) inputs[request.key()] = std::move(*answer);
  }
  co_return inputs;
}

}  // namespace agw
