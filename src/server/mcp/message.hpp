#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

class Request;

/// A JSON-RPC error response, thrown where the error is found. `status` is the HTTP status, used unless the response is
/// part of a stream.
class McpError : public std::runtime_error {
public:
  McpError(std::int64_t code, const std::string& message, json::object data = {}, int status = 200)
      : std::runtime_error(message), code_(code), data_(std::move(data)), status_(status) {}

  std::int64_t code() const { return code_; }
  const json::object& data() const { return data_; }
  int status() const { return status_; }

private:
  std::int64_t code_;
  json::object data_;
  int status_;
};

/// A message from a client.
struct McpMessage {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  json::value id;  ///< of a request or response
  std::string method;
  json::object params;
  json::object result;  ///< of a response
  bool is_error = false;
};

/// Moves the object in a member out of `object`. Empty if it is missing or no object.
json::object take_object(json::object& object, std::string_view name);

/// Parses a message, and moves its params or result out of `value`. Throws McpError -32600 if it is invalid; `id` is
/// then set if the message has an id for the error response.
McpMessage read_mcp_message(json::value& value, json::value& id);

std::string mcp_result(const json::value& id, json::object result);
std::string mcp_error(const json::value& id, const McpError& error);
std::string mcp_request(std::int64_t id, std::string_view method, json::object params);
std::string mcp_notification(std::string_view method, json::object params);

/// Whether a message belongs to revision 2026-07-28 or an unknown one: its `_meta` names a revision, or the header
/// `MCP-Protocol-Version` names a revision without a handshake.
bool is_modern_message(const Request& request, const McpMessage& message);

/// Checks the members of `_meta` and the headers that every request of 2026-07-28 must have. Throws McpError -32602,
/// -32020 or -32022, each with status 400.
void check_modern_request(const Request& request, const McpMessage& message);

}  // namespace agw
