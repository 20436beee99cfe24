#include "server/mcp/message.hpp"

#include <optional>
#include <utility>

#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"

namespace agw {

namespace {

constexpr int bad_request_code = 400;

McpError invalid(const char* why) { return {rpc_code::invalid_request, why, {}, bad_request_code}; }

bool is_valid_id(const json::value& id) { return id.is_string() || id.is_int64(); }

McpMessage read_call(json::object& object, const json::value* id) {
  McpMessage message{.kind = id ? McpMessage::Kind::request : McpMessage::Kind::notification};
  if (id) message.id = *id;
  const auto method = string_member(object, "method");
  if (!method) throw invalid("a method is a string");
  message.method = *method;
  const auto* params = object.if_contains("params");
  if (params && !params->is_object() && !params->is_array()) throw invalid("params must be an object");
  message.params = take_object(object, "params");
  return message;
}

}  // namespace

json::object take_object(json::object& object, std::string_view name) {
  auto* member = object.if_contains(name);
  return member && member->is_object() ? std::move(member->get_object()) : json::object();
}

McpMessage read_mcp_message(json::value& value, json::value& id) {
  auto* object = value.if_object();
  const auto* given = object ? object->if_contains("id") : nullptr;
  if (given && is_valid_id(*given)) id = *given;
  const bool has_method = object && object->contains("method");
  const bool is_response = given && (object->contains("result") || object->contains("error"));
  if (!object || string_member(*object, "jsonrpc") != "2.0" || (!has_method && !is_response))
    throw invalid("not a JSON-RPC 2.0 message");
  if (!has_method) {
    const bool is_error = !object_member(*object, "result");
    return {.kind = McpMessage::Kind::response,
            .id = *given,
            .result = take_object(*object, "result"),
            .is_error = is_error};
  }
  if (given && !is_valid_id(*given)) throw invalid("an id is a string or a whole number");
  return read_call(*object, given);
}

std::string mcp_result(const json::value& id, json::object result) {
  return to_json(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

std::string mcp_error(const json::value& id, const McpError& error) {
  json::object members{{"code", error.code()}, {"message", to_utf8(error.what())}};
  if (!error.data().empty()) members["data"] = error.data();
  return to_json(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(members)}});
}

std::string mcp_request(std::int64_t id, std::string_view method, json::object params) {
  return to_json(json::object{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
}

std::string mcp_notification(std::string_view method, json::object params) {
  json::object message{{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.empty()) message["params"] = std::move(params);
  return to_json(message);
}

}  // namespace agw
