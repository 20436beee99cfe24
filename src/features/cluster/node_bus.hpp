#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "api/response.hpp"
#include "base/async/assert.hpp"
#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/cluster/node_message.hpp"
#include "features/cluster/types.hpp"
#include "features/events/hub.hpp"
#include "io/nats/nats_connection.hpp"

namespace agw {

/// The messages between nodes over NATS: events, for clients of other nodes; heartbeats, with the interests of a node's
/// clients; and requests that only the node with the run can answer.
///
/// It needs a server: tests/cluster/test_events.py shows the use.
class NodeBus : private Subscriber {
public:
  struct Options {
    NatsAddress address;
    std::string key;      ///< the configuration key, for error messages
    std::string node;     ///< the name of this node
    std::string cluster;  ///< the prefix of subjects
    std::string secret;   ///< shared by all nodes
    std::int64_t epoch;   ///< identifies this start, see NodeMessage
  };
  struct Handlers {
    /// Answers a request of another node. `stop` is requested if that node no longer needs the response, or is lost.
    std::function<Task<Response>(PassedRequest, StopSource& stop)> serve;
    std::function<json::array(const std::set<std::string, std::less<>>*)> active_runs;
  };
  /// Connects. Throws like NatsConnection.
  NodeBus(Loop& loop, Hub& hub, Options options, Handlers handlers);
  ~NodeBus() override;
  NodeBus(const NodeBus&) = delete;
  NodeBus& operator=(const NodeBus&) = delete;

  /// Ends all calls that wait for other nodes.
  Task<> stop();

  /// Returns the other node's response; nullopt if it does not accept the request within two seconds, and then it never
  /// executes it. Throws ApiError 503 if the node is lost while it works, or if `stop` is requested, which is passed on
  /// to the other node.
  Task<std::optional<Response>> pass_on(std::string node, PassedRequest request, StopSource* stop = nullptr);

  /// The active runs of other nodes on the threads. Omits nodes that do not answer within two seconds.
  Task<json::array> runs_elsewhere(std::set<std::string, std::less<>> threads);

  /// Makes the clients of all nodes reread the active runs.
  void have_all_catch_up(const std::string& why);

  /// Whether the NATS server is connected.
  bool is_connected() const { return connection_.is_connected(); }

private:
  using Clock = std::chrono::steady_clock;
  /// Kept until this node stops, so that gaps are noticed no matter how long the other node was unreachable.
  struct OtherNode {
    std::int64_t epoch = 0;
    std::int64_t number = 0;  ///< of its latest broadcast frame
    Clock::time_point heard_at;
    bool is_new = false;  ///< its latest broadcast frame was the first of its epoch
    Interests interests;
  };
  /// A request of another node that waits for its `go`.
  struct Offer {
    NodeMessage message;
    Clock::time_point at;
  };
  /// A request of another node that is being executed.
  struct Served {
    StopSource stop;
    Clock::time_point asked_at = Clock::now();  ///< when the other node last asked for progress
  };
  /// A request or question to other nodes that waits for answers.
  struct PendingCall;

  void receive(const std::string& subject, const std::string& payload);
  bool is_new_frame(const NodeMessageReader::Frame& frame);
  void handle(NodeMessage message);
  void handle_event(NodeMessage& message);
  void handle_presence(const NodeMessage& message);
  void handle_answer(NodeMessage message);
  void handle_request(NodeMessage message);
  void handle_go(const NodeMessage& message);
  void handle_stop(const NodeMessage& message);
  void stop_served(Clock::time_point since);
  void send_progress(const NodeMessage& question);
  Task<> serve(NodeMessage message);
  void send_runs(const NodeMessage& question);
  void connection_changed(bool is_connected);
  void interests_changed();
  enum class PresenceOfOthers { not_wanted, wanted };
  void send_presence(PresenceOfOthers others = PresenceOfOthers::not_wanted);
  Task<> send_heartbeats();
  void announce_missed(const std::string& why);
  bool is_alive(const OtherNode& node) const;

  void broadcast(std::string_view kind, json::object head, std::string body = {});
  void send_to(const std::string& node, std::string_view kind, const std::string& id, json::object head,
               std::string body = {});
  void send(const std::string& subject, NodeMessage message);

  void deliver(const DomainEvent& event) override;
  bool awaits(std::string_view) const override;
  bool answers(std::string_view thread_id) const override;
  bool is_shown_on(std::string_view device) const override;

  ThreadChecker checker_;
  Loop& loop_;
  Hub& hub_;
  const Options options_;
  const Handlers handlers_;
  const std::string all_;
  std::int64_t number_ = 0;
  Interests sent_interests_;
  bool has_warned_ = false;
  NodeMessageReader reader_;
  std::map<std::string, OtherNode> nodes_;
  std::map<std::string, std::shared_ptr<PendingCall>> pending_calls_;
  std::map<std::string, Offer> offers_;  ///< by the nonce that this node created
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Served>> served_;  ///< by node and id
  StopSource stopping_;
  NatsConnection connection_;
  Hub::Listening listening_;
  TaskGroup group_;
};

}  // namespace agw
