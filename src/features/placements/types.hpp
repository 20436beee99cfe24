#pragma once

#include <optional>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "tools/tool.hpp"

namespace agw {

class Request;

/// Where the program of an extension runs.
struct Placement {
  std::string node;   ///< empty: not claimed yet
  std::string state;  ///< reported by its current or last node, in a format of the room that runs the program

  bool operator==(const Placement&) const = default;
};

/// Requests to other nodes about the programs that they run.
class OtherPrograms {
public:
  virtual ~OtherPrograms() = default;
  /// Connects to the server of an app (its extension's id). Throws ApiError 503, which names the node.
  virtual Task<std::optional<asio::ip::tcp::socket>> reach_app(std::string node, std::string app) = 0;
  /// Throws Forbidden unless another node has sent the request to this one.
  virtual void check_node(const Request& request) = 0;
  /// Calls a tool of an MCP server (its extension's id). Failures become error results.
  virtual Task<ToolOutcome> call_tool(std::string node, std::string integration, std::string tool,
                                      const ToolCall& call) = 0;
};

}  // namespace agw
