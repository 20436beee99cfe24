#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "cli/acp/client_asker.hpp"
#include "cli/acp/editor_servers.hpp"
#include "cli/acp/event_updates.hpp"
#include "cli/acp/rpc_peer.hpp"
#include "cli/client/message_stream.hpp"

namespace agw::cli {

/// What a session lends to its answers.
struct EditorLoan {
  std::string session_id;
  std::filesystem::path directory;       ///< as the editor names it
  std::filesystem::path real_directory;  ///< the same without symlinks, as the gateway names it
  ClientAbilities abilities;
  std::vector<EditorServer> servers;
  std::vector<std::string> more_directories;  ///< shown by the editor in addition to `directory`
};

/// Lends the answers of a session the editor's resources: open texts, terminals, MCP servers. The gateway requests them
/// on a separate socket. Before a tool runs with the rights of the person, the person is asked. Use it on the loop
/// only.
class EditorTools {
public:
  using SendUpdate = std::function<void(json::object update)>;

  /// The references must outlive this object.
  EditorTools(Loop& loop, RpcPeer& peer, ClientAsker& asker, EventUpdates& updates, SendUpdate send_update,
              EditorLoan loan);

  /// The id of the loan, to be sent with the next message; empty if there is nothing to lend. `acts` is false in plan
  /// mode. Does not wait for MCP servers once `cancelled` is requested.
  Task<std::string> lend(const FoundGateway& gateway, bool acts, bool lends_terminal, StopSource& cancelled);
  /// Call it after updates of calls were sent: a request of the gateway may wait until its call is shown.
  void updates_sent() { updates_sent_.pulse(); }
  Task<> close();

private:
  using Stop = std::shared_ptr<StopSource>;

  json::object offer(bool acts, bool lends_terminal) const;
  void require_open() const;
  Task<> connect(const FoundGateway& gateway);
  Task<> receive(std::shared_ptr<MessageStream> stream);
  Task<> write(std::shared_ptr<MessageStream> stream);
  void send(const json::object& message);
  void take(json::object message);
  Task<> serve(json::object request, Stop stop);
  Task<json::object> result_of(const json::object& request, StopSource& stop);
  Task<json::object> read_file(std::string path, StopSource& stop);
  Task<json::object> write_file(std::string path, std::string content, StopSource& stop);
  Task<json::object> run_tool(const json::object& request, StopSource& stop);
  Task<> until_shown(std::string_view call_id);
  Task<json::object> run_command(std::string call_id, json::object input, StopSource& stop);
  Task<> wait_for_exit(json::object terminal, std::optional<json::object>& status, StopSource& stop);

  RpcPeer& peer_;
  ClientAsker& asker_;
  EventUpdates& updates_;
  const SendUpdate send_update_;
  const EditorLoan loan_;
  EditorServers servers_;
  std::shared_ptr<MessageStream> stream_;  ///< null while closed
  std::deque<std::string> outbox_;
  AsyncEvent outbox_filled_;
  AsyncEvent offered_;
  AsyncEvent updates_sent_;
  std::string offer_;                    ///< the last offer, as JSON
  std::string id_;                       ///< the id of the last offer
  std::map<std::string, Stop> serving_;  ///< active requests, by `callId`
  StopSource closing_;
  TaskGroup group_;
};

}  // namespace agw::cli
