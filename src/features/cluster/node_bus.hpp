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
#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/cluster/node_message.hpp"
#include "features/cluster/types.hpp"
#include "features/events/hub.hpp"
#include "io/nats/nats_connection.hpp"

namespace agw {

/// The messages between nodes over NATS: their events, for clients of other nodes; heartbeats, and what their clients
/// look at; requests that only the node answers that has the run.
///
/// It needs a server: tests/cluster/test_events.py shows the use.
class NodeBus : private Subscriber {
public:
  struct Options {
    NatsAddress address;
    std::string key;      ///< of the configuration, for messages
    std::string node;     ///< this one's name
    std::string cluster;  ///< by which subjects begin
    std::string secret;   ///< that all nodes have
    std::int64_t epoch;   ///< of this start, see NodeMessage
  };
  struct Handlers {
    /// `stop` is requested when the other node does not need the response any more, or is lost.
    std::function<Task<Response>(PassedRequest, StopSource& stop)> serve;
    std::function<json::array(const std::set<std::string, std::less<>>*)> active_runs;
  };
  /// Connects; throws as NatsConnection does.
  NodeBus(Loop& loop, Hub& hub, Options options, Handlers handlers);
  ~NodeBus() override;
  NodeBus(const NodeBus&) = delete;
  NodeBus& operator=(const NodeBus&) = delete;

  /// Ends what waits for other nodes.
  Task<> stop();

  /// The other node's response; nullopt if it does not say within two seconds that it can: then it has done nothing,
  /// and will not. Throws ApiError 503 if it is lost in the meantime, or if `stop` is requested, which is reported to
  /// the other node.
  Task<std::optional<Response>> pass_on(std::string node, PassedRequest request, StopSource* stop = nullptr);

  /// The active runs of other nodes on the threads, as far as these say so within two seconds.
  Task<json::array> runs_elsewhere(std::set<std::string, std::less<>> threads);

  /// Makes the clients of all nodes reread the active runs.
  void have_all_catch_up(const std::string& why);

  /// Whether messages arrive.
  bool is_connected() const { return connection_.is_connected(); }

private:
  using Clock = std::chrono::steady_clock;
  /// Kept for as long as this one runs, so that a gap is seen however long the other was away.
  struct OtherNode {
    std::int64_t epoch = 0;
    std::int64_t number = 0;  ///< of its latest frame to all
    Clock::time_point heard_at;
    bool is_new = false;  ///< its latest frame to all was the first of its epoch
    Interests interests;
  };
  /// A request of another node that it has not confirmed yet.
  struct Offer {
    NodeMessage message;
    Clock::time_point at;
  };
  /// A request of another node that is being answered.
  struct Served {
    StopSource stop;
    Clock::time_point asked_at = Clock::now();  ///< last whether it still is
  };
  /// A question to other nodes, until it is answered.
  struct Waiting;

  void take(const std::string& subject, const std::string& payload);
  bool take_number(const NodeMessageReader::Frame& frame);
  void handle(NodeMessage message);
  void take_event(NodeMessage& message);
  void take_presence(const NodeMessage& message);
  void take_answer(NodeMessage message);
  void take_offer(NodeMessage message);
  void take_go(const NodeMessage& message);
  void take_stop(const NodeMessage& message);
  void stop_served(Clock::time_point since);
  void tell_progress(const NodeMessage& question);
  Task<> serve(NodeMessage message);
  void tell_runs(const NodeMessage& question);
  void connection_changed(bool is_connected);
  void interests_changed();
  void tell_presence(bool asks_for_others);
  Task<> beat();
  void miss(const std::string& why);
  bool is_there(const OtherNode& node) const;

  void tell_all(std::string_view kind, json::object head, std::string body = {});
  void tell(const std::string& node, std::string_view kind, const std::string& id, json::object head,
            std::string body = {});
  void send(const std::string& subject, NodeMessage message);

  void deliver(const DomainEvent& event) override;
  bool awaits(std::string_view) const override;
  bool answers(std::string_view thread_id) const override;
  bool is_shown_on(std::string_view device) const override;

  Loop& loop_;
  Hub& hub_;
  const Options options_;
  const Handlers handlers_;
  const std::string all_;
  std::int64_t number_ = 0;
  Interests told_;
  bool has_warned_ = false;
  NodeMessageReader reader_;
  std::map<std::string, OtherNode> nodes_;
  std::map<std::string, std::shared_ptr<Waiting>> waiting_;
  std::map<std::string, Offer> offers_;                                            ///< by the nonce of this node
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Served>> served_;  ///< by node and id
  StopSource stopping_;
  NatsConnection connection_;
  Hub::Listening listening_;
  TaskGroup group_;
};

}  // namespace agw
