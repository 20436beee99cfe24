#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "cli/acp/client_asker.hpp"
#include "cli/acp/editor_tools.hpp"
#include "cli/acp/event_updates.hpp"
#include "cli/acp/gateway_access.hpp"
#include "cli/acp/prompt_content.hpp"
#include "cli/acp/rpc_peer.hpp"
#include "cli/acp/session_options.hpp"
#include "cli/client/approvals.hpp"
#include "cli/client/event_stream.hpp"

namespace agw::cli {

/// The initial state of a session.
struct SessionStart {
  json::object thread;         ///< its record
  std::string directory;       ///< as the client names it
  std::string real_directory;  ///< the same without symlinks, as the gateway names it
  SessionLists lists;
  ClientAbilities abilities;
  /// The untrusted project about which the person is asked before the first prompt; empty if there is none.
  std::string project_to_trust;
  std::vector<EditorServer> servers{};          ///< specified by the client
  std::vector<std::string> more_directories{};  ///< shown by the client in addition to `directory`
};

/// A thread of the gateway that a client has open: sends prompts, and reports all events of the thread to the client,
/// whatever causes them. A lost connection is restored without gaps or repetitions. Use it on the loop only.
class Session {
public:
  /// The references must outlive this object.
  Session(Loop& loop, RpcPeer& peer, GatewayAccess& gateway, SessionStart start);

  /// Follows the thread's events. With `replays`, first sends the client the complete thread.
  Task<> open(bool replays);
  /// `modes` and `configOptions`.
  json::object state() const;
  /// Sends the client the list of commands.
  void send_commands_and_notices();

  /// Handles `session/prompt`.
  Task<json::object> prompt(json::array blocks, RpcCallPointer call);
  /// Stops the thread's answer if this client is waiting for it.
  Task<> cancel();
  Task<> set_mode(std::string mode);
  /// Sets a config option; throws RpcError for an unknown one.
  Task<> set_option(std::string option, std::string value);

  /// Ends the session: its pending prompts end as cancelled. The thread and its answer are not affected.
  Task<> close();

private:
  /// A prompt whose answer the client waits for.
  struct Prompt {
    std::string turn_id;   ///< empty until the gateway has stored it
    bool is_sent = false;  ///< or will not be
    StopSource cancelled;
    StopSource ended;
    std::string finish_reason;
    std::string error;
  };
  using PromptPointer = std::shared_ptr<Prompt>;

  /// How much of a run was sent to the client.
  struct RunProgress {
    std::string id;
    std::int64_t sequence = 0;
    std::size_t text_size = 0;
    bool has_ended = false;
  };

  /// How the answer to a turn ended.
  struct Ending {
    std::string turn_id;
    std::string reason;
    std::string error;
  };

  /// The thread's pending permission requests at one gateway.
  struct WaitingRoom {
    WaitingRoom(Loop& loop, std::shared_ptr<const FoundGateway> found, Asker& asker, const std::string& thread)
        : gateway(std::move(found)), approvals(loop, client, asker, thread) {}
    std::shared_ptr<const FoundGateway> gateway;
    Client client{*gateway};
    Approvals approvals;
  };

  // session.cpp

  Task<> send_in_order(PromptContent content, Prompt& prompt);
  Task<> until_first(const Prompt& prompt);
  Task<std::string> send_prompt(PromptContent content, Prompt& prompt);
  Task<> ask_for_trust(StopSource& cancelled);
  Task<> stop_answer();
  static json::object result_of(const Prompt& prompt);
  void send(json::object update);
  void adopt_mode(const std::string& mode);
  void send_options();
  void send_commands();
  Task<> refresh_commands();

  // session_events.cpp

  Task<> connect();
  Task<> attach(std::shared_ptr<const FoundGateway> gateway);
  Task<> leave_waiting_room();
  Task<> follow();
  Task<bool> reconnect();
  Task<bool> try_to_reconnect();
  Task<> replay();
  Task<> send_picture(json::object update);
  Task<> catch_up_active();
  Task<> catch_up(std::string run_id);
  Task<> settle(PromptPointer prompt);
  Task<bool> take_stored(PromptPointer prompt);
  void take(const json::object& event);
  void take_turn(const json::object& turn);
  bool is_next(const json::object& event);
  RunProgress& progress_of(const std::string& run_id);
  void end_run(const json::object& event, RunProgress& run);
  bool end_prompt(const Ending& ending);
  void send_usage(const json::object& finish);
  void fail_prompts(const std::string& why);

  Loop& loop_;
  RpcPeer& peer_;
  GatewayAccess& gateway_;
  const std::string id_;
  const std::string real_directory_;
  SessionLists lists_;
  SessionChoices choices_;
  const ClientAbilities abilities_;
  std::string project_to_trust_;
  EventUpdates updates_;
  ClientAsker asker_;
  EditorTools tools_;
  std::unique_ptr<EventStream> events_;
  std::shared_ptr<WaitingRoom> waiting_room_;
  std::shared_ptr<StopSource> connecting_;  ///< requested once the current attempt has ended

  std::list<PromptPointer> prompts_;      ///< in the client's order
  AsyncEvent sent_;                       ///< pulsed after each prompt
  std::deque<RunProgress> runs_;          ///< the latest runs, bounded in number
  std::deque<Ending> endings_;            ///< of runs that ended before the response to the prompt arrived
  std::deque<json::object> early_turns_;  ///< messages that arrived before it: one of them is ours
  std::set<std::string> known_turns_;     ///< messages that the client has sent or received since it connected
  std::string missed_run_;                ///< a run with a gap
  std::string last_error_;                ///< of the run that ends next
  std::size_t posting_ = 0;
  double cost_ = 0;
  StopSource closing_;
  TaskGroup group_;
};

}  // namespace agw::cli
