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

/// The things that a session lends.
struct EditorLoan {
  std::string session_id;
  std::filesystem::path directory;
  ClientAbilities abilities;
  std::vector<EditorServer> servers;
  std::vector<std::string> more_directories;  ///< that the editor shows beside `directory`
};

/// Lends the answers of a session what its editor has: the texts that are open, its terminals, its MCP servers. The
/// gateway asks for them on a separate socket. Before a tool runs with the rights of the person, the person is asked.
/// On the loop.
class EditorTools {
public:
  using SendUpdate = std::function<void(json::object update)>;

  /// The references must outlive this.
  EditorTools(Loop& loop, RpcPeer& peer, ClientAsker& asker, EventUpdates& updates, SendUpdate send_update,
              EditorLoan loan);

  /// The id by which the next message lends; empty if there is nothing to lend. `acts`: not in plan mode.
  Task<std::string> lend(const FoundGateway& gateway, bool acts, bool lends_terminal);
  Task<> close();

private:
  using Stop = std::shared_ptr<StopSource>;

  json::object offer(bool acts, bool lends_terminal) const;
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
  Task<json::object> run_command(std::string call_id, json::object input, StopSource& stop);
  Task<> wait_for_exit(json::object terminal, std::optional<json::object>& status, StopSource& stop);

  RpcPeer& peer_;
  ClientAsker& asker_;
  EventUpdates& updates_;
  const SendUpdate send_update_;
  const EditorLoan loan_;
  EditorServers servers_;
  std::shared_ptr<MessageStream> stream_;  ///< null while it is closed
  std::deque<std::string> outbox_;
  AsyncEvent outbox_filled_;
  AsyncEvent offered_;
  std::string offer_;                    ///< what was offered last, as JSON
  std::string id_;                       ///< of it
  std::map<std::string, Stop> serving_;  ///< by `callId`
  StopSource closing_;
  TaskGroup group_;
};

}  // namespace agw::cli
