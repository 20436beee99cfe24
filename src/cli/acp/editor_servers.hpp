#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "base/json/json.hpp"
#include "features/integrations/session.hpp"
#include "io/http/http_client.hpp"

namespace agw::cli {

/// An MCP server that the editor specifies for a session.
struct EditorServer {
  std::string name;
  std::string command{};  ///< empty: the server is at `url`
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string url{};
  std::vector<HttpHeader> headers{};
};

/// Parses `mcpServers` of a session. Throws RpcError.
std::vector<EditorServer> editor_servers(const json::object& params);

/// The MCP servers of a session, which run while it is open, with the rights of the person. Use it on the loop only.
class EditorServers {
public:
  /// Called for a server that cannot be used.
  using OnProblem = std::function<void(const std::string& server, const std::string& why)>;

  EditorServers(Loop& loop, std::vector<EditorServer> servers, std::filesystem::path directory, OnProblem on_problem);
  ~EditorServers();

  bool empty() const { return servers_.empty(); }
  /// Connects to the servers that are not connected, and waits for all attempts, at most 15 s or until `cancelled`.
  Task<> connect(StopSource& cancelled);
  /// The tools of all connected servers, named like an integration's: `<server>__<tool>`.
  std::vector<ToolDescription> tools() const;
  /// The server that has the tool; empty if there is none.
  std::string server_of(const std::string& tool) const;
  /// Calls a tool with such a name.
  Task<ToolOutcome> call(std::string tool, json::object input, StopSource& stop);

  Task<> close();

private:
  struct Server {
    EditorServer about;
    std::shared_ptr<McpSession> session{};  ///< null while not connected
    bool is_running = false;
    bool has_tried = false;
  };
  struct Place {
    const Server* server = nullptr;
    std::string tool;  ///< the name used by the server
  };

  Task<> run(Server& server);
  Task<> until_tried();
  std::unique_ptr<McpTransport> transport_to(const EditorServer& server);
  std::optional<Place> find(const std::string& tool) const;

  Loop& loop_;
  const std::filesystem::path directory_;
  const OnProblem on_problem_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::unique_ptr<HttpClient> http_;  ///< created at the first use
  AsyncEvent tried_;                  ///< pulsed after each attempt
  StopSource closing_;
  TaskGroup group_;
};

}  // namespace agw::cli
