#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "base/json/json.hpp"
#include "cli/client/asker.hpp"
#include "cli/client/client.hpp"

namespace agw::cli {

/// The tools for MCP clients: those of the gateway's own UTCP manual, so that there is one source of truth, except
/// those that grant access (the token, pairing). `chat`, which waits for the answer, and `propose`, which names its
/// agent, replace two of them.
class McpTools {
public:
  /// Without `all` only reading tools, `chat`, running jobs, and `propose`.
  McpTools(Loop& loop, std::optional<std::string> data_dir, bool all);

  /// The tools as `tools/list` returns them.
  Task<json::array> list() const;

  struct Result {
    std::string text;
    bool is_error = false;
  };
  /// nullopt for an unknown tool. Failures within a tool are results. `stop` stops a chat. `asker`: asks the person at
  /// the client during a chat, if that is possible.
  Task<std::optional<Result>> call(std::string name, json::object input, StopSource& stop, Asker* asker) const;

  /// Follows the name of an unknown tool in an error text: how to enable more tools, if there are any.
  std::string_view unavailable_hint() const {
    return all_ ? "" : "; tools that change or execute need `agw mcp --all`";
  }

private:
  Task<std::vector<json::object>> manual(const FoundGateway& gateway) const;
  bool is_offered(const json::object& tool) const;
  Task<std::string> chat(json::object input, StopSource& stop, Asker* asker) const;
  Task<std::string> propose(json::object input) const;

  Loop& loop_;
  std::optional<std::string> data_dir_;
  bool all_;
};

}  // namespace agw::cli
