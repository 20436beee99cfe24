#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.hpp"
#include "server/mcp/api_caller.hpp"

namespace agw {

/// The gateway's routes as MCP tools, as in its UTCP manual, except those that grant access (pairing).
class RouteTools {
public:
  explicit RouteTools(const ApiCaller& api) : api_(api) {}

  /// The list for `tools/list`. Without `all`, only the tools that read, run jobs or stop answers.
  json::array list(bool all) const;
  bool has(std::string_view name, bool all) const;
  /// The request that the tool makes; may run on any thread after `has`. Throws ToolFailure if `input` lacks a
  /// parameter of the path.
  ApiCall call_of(std::string_view name, json::object input) const;

private:
  struct RouteTool {
    json::object shown;
    std::string method;
    std::vector<std::string> segments;  ///< of the path; `{id}` means the parameter `id`
    bool has_body = false;
    bool is_always_offered = false;
  };
  using Tools = std::map<std::string, RouteTool, std::less<>>;
  const Tools& tools() const;

  const ApiCaller& api_;
  mutable Tools tools_;  ///< created at the first use, when the table of routes is complete
};

}  // namespace agw
