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

/// An MCP server that the editor names for a session.
struct EditorServer {
  std::string name;
  std::string command{};  ///< empty: it is at `url`
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string url{};
  std::vector<HttpHeader> headers{};
};

/// Reads `mcpServers` of a session. Throws RpcError.
std::vector<EditorServer> editor_servers(const json::object& params);

/// The MCP servers of a session, which run for as long as it is open, with the rights of the person. On the loop.
class EditorServers {
public:
  /// Called if a server cannot be used.
  using OnProblem = std::function<void(const std::string& server, const std::string& why)>;

  EditorServers(Loop& loop, std::vector<EditorServer> servers, std::filesystem::path directory, OnProblem on_problem);
  ~EditorServers();

  bool empty() const { return servers_.empty(); }
  /// Connects those that are not connected, and waits until each has tried, at most 15 s.
  Task<> connect();
  /// Of all that are connected, named as an integration's: `<server>__<tool>`.
  std::vector<ToolDescription> tools() const;
  /// The server that has the tool; empty if none has.
  std::string server_of(const std::string& tool) const;
  /// Calls a tool by that name.
  Task<ToolOutcome> call(std::string tool, json::object input, StopSource& stop);

  Task<> close();

private:
  struct Server {
    EditorServer about;
    std::shared_ptr<McpSession> session{};  ///< null while it is not connected
    bool is_running = false;
    bool has_tried = false;
  };
  struct Place {
    const Server* server = nullptr;
    std::string tool;  ///< the server's own name
  };

  Task<> run(Server& server);
  Task<> until_tried();
  std::unique_ptr<McpTransport> transport_to(const EditorServer& server);
  std::optional<Place> find(const std::string& tool) const;

  Loop& loop_;
  const std::filesystem::path directory_;
  const OnProblem on_problem_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::unique_ptr<HttpClient> http_;  ///< made when it is first needed
  AsyncEvent tried_;                  ///< pulsed
  StopSource closing_;
  TaskGroup group_;
};

}  // namespace agw::cli
