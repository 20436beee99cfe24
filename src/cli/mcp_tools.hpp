#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cut.hpp"
#include "base/json.hpp"
#include "base/task.hpp"
#include "cli/client.hpp"

namespace agw::cli {

/// What a client of the Model Context Protocol may do with the gateway: the tools of its own UTCP manual, so that there
/// is one source of truth, but for those that open doors (the token, pairing). `chat`, which waits for the answer, and
/// `propose`, which says for whom it asks, stand for two of them.
class McpTools {
public:
  /// Without `all` only what reads, `chat`, running jobs, and `propose`.
  McpTools(Loop& loop, std::optional<std::string> data_dir, bool all);

  /// The tools as `tools/list` answers them.
  Task<json::array> list() const;

  struct Result {
    std::string text;
    bool is_error = false;
  };
  /// Nothing for a tool that is not there. What goes wrong within one is a result. With `stop` a chat is stopped.
  Task<std::optional<Result>> call(std::string name, json::object input, Stop& stop) const;

  /// Behind the name of a tool that is not there: where it may be. Empty where nothing more is.
  std::string_view where_others_are() const {
    return all_ ? "" : "; what changes or executes is there only with `agw mcp --all`";
  }

private:
  Task<std::vector<json::object>> manual(const FoundGateway& gateway) const;
  bool is_offered(const json::object& tool) const;
  Task<std::string> chat(json::object input, Stop& stop) const;
  Task<std::string> propose(json::object input) const;

  Loop& loop_;
  std::optional<std::string> data_dir_;
  bool all_;
};

}  // namespace agw::cli
