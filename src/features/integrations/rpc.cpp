#include "features/integrations/rpc.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/json/json_values.hpp"
#include "base/text/ascii.hpp"
#include "features/integrations/protocol.hpp"
#include "features/secrets/service.hpp"
#include "models/json_reader.hpp"

namespace agw {

namespace {

constexpr std::size_t max_error_length = 2000;

RpcError read_error(const json::value& value) {
  RpcError error{.message = "an error without a message"};
  if (!value.is_object()) return error;
  const auto& members = value.get_object();
  if (const auto* code = members.if_contains("code"); code && code->is_int64()) error.code = code->get_int64();
  if (const auto message = string_member(members, "message")) error.message = message->substr(0, max_error_length);
  if (const auto* data = members.if_contains("data")) error.data = *data;
  return error;
}

std::size_t after_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(white_space, at), text.size());
}

/// The index after the string that begins at `at`.
std::size_t after_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// The id of a response that cannot be parsed, for example because it contains `NaN` or nests too deeply. Null if the
/// text is not a response.
json::value id_of_unreadable_response(std::string_view text) {
  json::value id;
  bool is_rpc = false;
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '"') {
      depth += text[at] == '{' || text[at] == '[';
      depth -= text[at] == '}' || text[at] == ']';
      ++at;
      continue;
    }
    const auto word = text.substr(at, after_string(text, at) - at);
    at = after_blanks(text, at + word.size());
    if (depth != 1 || !text.substr(at).starts_with(':')) continue;
    at = after_blanks(text, at + 1);
    if (word == "\"method\"") return nullptr;
    if (word == "\"jsonrpc\"") is_rpc = true;
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (word == "\"id\"" && read.ec == std::errc{}) id = number;
  }
  return is_rpc ? id : nullptr;
}

RpcMessage unreadable_message(std::string_view text) {
  RpcMessage message{.id = id_of_unreadable_response(text)};
  if (message.id.is_null()) return message;
  message.kind = RpcMessage::Kind::response;
  message.error = {.code = rpc_code::parse_error,
                   .message = fmt::format("its answer is no JSON, or nested deeper than {}", max_own_json_depth)};
  return message;
}

void hide_in(json::value& value, const FilledSecrets& secrets) {
  if (auto* text = value.if_string()) *text = secrets.hidden_in_response(*text);
  if (auto* array = value.if_array()) {
    for (auto& element : *array) hide_in(element, secrets);
  }
  if (auto* object = value.if_object()) {
    for (auto& member : *object) hide_in(member.value(), secrets);
  }
}

}  // namespace

void hide_in_errors(RpcMessage& response, const FilledSecrets& secrets) {
  if (response.error || is_true(response.result, "isError")) hide_in_response(response, secrets);
}

void hide_in_response(RpcMessage& response, const FilledSecrets& secrets) {
  if (secrets.empty()) return;
  if (response.error) response.error->message = secrets.hidden_in_response(response.error->message);
  for (auto& member : response.result) hide_in(member.value(), secrets);
}

RpcMessage read_rpc(std::string_view text) {
  // Allows deeper nesting than elsewhere, because a list of tools is useful even if one of its schemas is deep.
  const auto object = parse_object(text, max_own_json_depth);
  if (!object) return unreadable_message(text);
  RpcMessage message;
  const auto& members = *object;
  if (string_member(members, "jsonrpc") != "2.0") return message;
  const auto* id = members.if_contains("id");
  if (id && !id->is_null()) message.id = *id;
  if (const auto method = string_member(members, "method")) {
    message.kind = message.id.is_null() ? RpcMessage::Kind::notification : RpcMessage::Kind::request;
    message.method = *method;
    message.params = object_or_empty(members, "params");
  } else if (const auto* error = members.if_contains("error")) {
    message.kind = RpcMessage::Kind::response;
    message.error = read_error(*error);
  } else if (members.contains("result")) {
    message.kind = RpcMessage::Kind::response;
    message.result = object_or_empty(members, "result");
  } else if (!message.id.is_null()) {
    message.kind = RpcMessage::Kind::response;
    message.error = {.code = rpc_code::internal_error, .message = "its answer has neither a result nor an error"};
  }
  return message;
}

std::string RpcResponse::failure() const {
  return error ? to_utf8(fmt::format("{} (error {})", error->message, error->code)) : problem;
}

void add_progress_token(json::object& params, std::int64_t id) {
  auto& meta = params["_meta"];
  if (!meta.is_object()) meta.emplace_object();
  meta.get_object()["progressToken"] = id;
}

json::object rpc_request(std::int64_t id, std::string_view method, json::object params) {
  AGW_ASSERT(id > 0);
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
}

json::object rpc_notification(std::string_view method, json::object params) {
  json::object message{{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.empty()) message["params"] = std::move(params);
  return message;
}

json::object rpc_reply(const RpcMessage& request) {
  AGW_ASSERT(request.kind == RpcMessage::Kind::request);
  json::object reply{{"jsonrpc", "2.0"}, {"id", request.id}};
  if (request.method == "ping") {
    reply["result"] = json::object();
  } else if (request.method == "elicitation/create") {
    reply["result"] = json::object{{"action", "cancel"}};
  } else {
    reply["error"] = json::object{{"code", rpc_code::method_not_found}, {"message", "Method not found"}};
  }
  return reply;
}

}  // namespace agw
