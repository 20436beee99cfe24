#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/task.hpp"
#include "cli/client/find_gateway.hpp"

namespace agw::cli {

/// A request to the gateway's MCP server.
struct McpHttpRequest {
  std::string method;  ///< `POST`
  std::string path;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
};

/// The response. `body` stays empty for a stream of events.
struct McpHttpResponse {
  int status = 0;
  std::string session{};  ///< `Mcp-Session-Id`
  std::string body{};
};

/// Sends the request and reads the response to its end. Calls `on_message` with the data of each event in a stream.
/// Throws std::runtime_error if there is no response.
Task<McpHttpResponse> exchange(FoundGateway gateway, McpHttpRequest request,
                               std::function<void(std::string_view data)> on_message);

}  // namespace agw::cli
