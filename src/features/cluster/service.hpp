#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/other_nodes.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"
#include "features/cluster/types.hpp"
#include "features/placements/service.hpp"
#include "storage/change_follower.hpp"
#include "storage/changes.hpp"
#include "storage/engine.hpp"

namespace agw {

class Access;
class Approvals;
class BlockingPool;
class Clock;
class Costs;
class Database;
class Engine;
class Extensions;
class Hub;
class Integrations;
class Jobs;
class ModelServices;
class NodeBus;
class NodeLinks;
class Projects;
class Push;
class Runs;
class Secrets;
class Stages;
class PassedCalls;
struct DataDirectory;
struct Settings;
namespace cluster_store {
struct Identity;
}

/// Connects a node to the others: applies their changes, ends the work of a lost node, exchanges events, and forwards
/// requests that only another node can answer.
///
/// It needs nodes, and thus a database server: tests/cluster/test_take_over.py and test_events.py show the use.
class Cluster : public OtherNodes, public OtherPrograms {
public:
  struct Services {
    Loop& loop;
    Database& database;
    const Clock& clock;
    Hub& hub;
    const Secrets& secrets;
    ChangeFollower& follower;
    Projects& projects;
    Extensions& extensions;
    ModelServices& model_services;
    Stages& stages;
    Costs& costs;
    Approvals& approvals;
    Runs& runs;
    Engine& engine;
    Jobs& jobs;
    Push& push;
    Access& access;
    BlockingPool& blocking;
    Integrations& integrations;
  };
  explicit Cluster(Services services);
  ~Cluster() override;

  /// Before the loop runs: starts to follow changes and events of other nodes. Connects to NATS if `settings` name a
  /// server; throws StartError like NatsConnection. `serve` answers requests that other nodes pass on. `url` is the
  /// address on which this gateway listens. `placements` must outlive this object.
  void start(const Settings& settings, const std::string& url, Placements& placements,
             std::function<Task<Response>(PassedRequest)> serve);
  /// Must be called if the lease of that node has expired: ends its work as its next start would, unless another node
  /// does so.
  void take_over(const LostNode& lost);
  Task<> stop();
  /// Gives up this node's lease, so that other nodes need not wait until it expires. Must be the last write.
  Task<> leave();

  /// Closes the WebSockets of this node, so that their clients reconnect, through a load balancer to other nodes.
  void disconnect_clients();
  /// Whether events of other nodes arrive; true if none are configured.
  bool receives_events() const;

  Task<std::optional<Response>> answer(const Request& request, const std::string& path) override;

  Task<std::optional<asio::ip::tcp::socket>> reach_app(std::string node, std::string app) override;
  Task<ToolOutcome> call_tool(std::string node, std::string integration, std::string tool,
                              const ToolCall& call) override;
  void check_node(const Request& request) override;

  /// The active runs of other nodes on the threads, in the form of Runs::active.
  Task<json::array> runs_elsewhere(std::set<std::string, std::less<>> threads);

  /// Makes the clients of all nodes reread the active runs.
  void have_all_catch_up(const std::string& why);

private:
  Task<> run_take_over(LostNode lost);
  void connect(const Settings& settings, const cluster_store::Identity& identity,
               std::function<Task<Response>(PassedRequest)> serve);
  void follow_changes();
  Task<> follow_costs();
  Task<std::string> node_for(const Request& request);

  Services services_;
  std::unique_ptr<PassedCalls> calls_;
  std::unique_ptr<NodeBus> bus_;  ///< null without NATS
  std::unique_ptr<NodeLinks> links_;
  Placements* placements_ = nullptr;  ///< set by `start`
  bool is_taking_over_ = false;
  StopSource stopping_;
  TaskGroup group_;
};

/// The handlers of a node for messages from the others.
struct NodeHandlers {
  OnChanges on_changes;
  std::function<void()> on_lead;
  std::function<void(const LostNode&)> on_lost_node;
  std::function<void()> on_lost;
};

/// Opens the database: on the server that the settings name, else the file in the data directory. Throws StartError.
std::unique_ptr<StorageEngine> open_storage(Loop& loop, const DataDirectory& directory, const Settings& settings,
                                            const Secrets& secrets, NodeHandlers handlers);

}  // namespace agw
