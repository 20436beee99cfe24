#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/json/json.hpp"

namespace agw {

class Request;

/// An error response of JSON-RPC: thrown where the error is found. `status` is that of HTTP, unless the response is
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

/// A message of a client.
struct McpMessage {
  enum class Kind { request, notification, response };
  Kind kind = Kind::request;
  json::value id;  ///< of a request or response
  std::string method;
  json::object params;
  json::object result;  ///< of a response
  bool is_error = false;
};

/// Reads a message. Throws McpError -32600 for anything that is not one; `id` is then set if the message has one that
/// the error can be sent to.
McpMessage read_mcp_message(const json::value& value, json::value& id);

std::string mcp_result(const json::value& id, json::object result);
std::string mcp_error(const json::value& id, const McpError& error);
std::string mcp_request(std::int64_t id, std::string_view method, json::object params);
std::string mcp_notification(std::string_view method, json::object params);

/// Whether a message belongs to revision 2026-07-28, or to one that the gateway does not know: its `_meta` names a
/// revision, or the header `MCP-Protocol-Version` names none of those with a handshake.
bool is_modern_message(const Request& request, const McpMessage& message);

/// Checks what every request of 2026-07-28 must have, in `_meta` and in headers. Throws McpError -32602, -32020 or
/// -32022, each with status 400.
void check_modern_request(const Request& request, const McpMessage& message);

}  // namespace agw
