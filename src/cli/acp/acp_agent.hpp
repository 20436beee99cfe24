#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/async/task_group.hpp"
#include "cli/acp/gateway_access.hpp"
#include "cli/acp/rpc_peer.hpp"
#include "cli/acp/session.hpp"

namespace agw::cli {

/// The options of `agw acp`.
struct AcpOptions {
  std::optional<std::string> agent;  ///< name or id of the agent that answers in new sessions
  std::optional<std::string> data_dir;
};

/// The agent side of the Agent Client Protocol, version 1: sessions are threads of the gateway and have the threads'
/// ids. Use it on the loop only.
class AcpAgent : private RpcHandler {
public:
  AcpAgent(Loop& loop, AcpOptions options, RpcPeer::Send send);

  /// Handles a line from the client.
  void take(std::string_view line) { peer_.take(line); }
  /// Responds to a line that was too long to be read.
  void refuse_line(std::size_t limit) { peer_.refuse_line(limit); }
  /// The client has disconnected: closes the sessions. Answers continue in the gateway.
  Task<> stop();

private:
  using SessionPointer = std::shared_ptr<Session>;

  Task<json::object> answer(std::string method, json::object params, RpcCallPointer call) override;
  Task<> notified(std::string method, json::object params) override;

  json::object initialize(const json::object& params);
  Task<json::object> authenticate(json::object params);
  Task<json::object> log_out();
  Task<json::object> new_session(json::object params, RpcCallPointer call);
  Task<json::object> open_session(json::object params, RpcCallPointer call, bool replays);
  Task<> require_cursor(std::string id);
  Task<json::object> list_sessions(json::object params);
  Task<json::object> close_session(json::object params);
  Task<json::object> delete_session(json::object params);
  Task<json::object> set_mode(json::object params);
  Task<json::object> set_option(json::object params);

  Task<json::object> project_at(std::string directory);
  void require_room() const;
  Task<SessionPointer> add_session(SessionStart start, RpcCallPointer call, bool replays);
  Task<> end_session(std::string id);
  std::string project_to_trust(const json::object& project, const std::string& directory);
  SessionPointer session_of(const json::object& params) const;

  Loop& loop_;
  const AcpOptions options_;
  GatewayAccess gateway_;
  RpcPeer peer_;
  ClientAbilities abilities_;
  bool is_initialized_ = false;
  bool is_logged_out_ = false;
  std::set<std::string> asked_for_trust_;  ///< projects that the person was asked about
  std::map<std::string, SessionPointer> sessions_;
};

}  // namespace agw::cli
