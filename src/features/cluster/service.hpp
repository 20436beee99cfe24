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

/// The part of a node that deals with the others: follows their changes, ends the work that a lost one had begun, tells
/// them its events and hears theirs, and has them answer what only they can.
///
/// It needs nodes, and so a server: tests/cluster/test_take_over.py and test_events.py show the use.
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

  /// Before the loop runs: from now on, changes and events of other nodes are read. Connects to NATS if `settings` name
  /// a server; throws StartError as NatsConnection does. `serve` answers requests that other nodes pass on. `url`:
  /// where this gateway listens. `placements` outlives this.
  void start(const Settings& settings, const std::string& url, Placements& placements,
             std::function<Task<Response>(PassedRequest)> serve);
  /// The lease of that node has expired: does what its next start would do, unless another node does.
  void take_over(const LostNode& lost);
  Task<> stop();
  /// The last that a node writes: gives up its lease, so that nobody waits for its end.
  Task<> leave();

  /// Closes the WebSockets of this node, so that their clients connect again: elsewhere, if a balancer leads them
  /// there.
  void send_clients_away();
  /// Whether events of other nodes arrive, if they are to.
  bool hears_others() const;

  Task<std::optional<Response>> answer(const Request& request, const std::string& path) override;

  Task<std::optional<asio::ip::tcp::socket>> reach_app(std::string node, std::string app) override;
  Task<ToolOutcome> call_tool(std::string node, std::string integration, std::string tool,
                              const ToolCall& call) override;
  void check_node(const Request& request) override;

  /// The active runs of other nodes on the threads, as Runs::active.
  Task<json::array> runs_elsewhere(std::set<std::string, std::less<>> threads);

  /// Makes the clients of all nodes reread the active runs.
  void have_all_catch_up(const std::string& why);

private:
  Task<> taking_over(LostNode lost);
  void connect(const Settings& settings, const cluster_store::Identity& identity,
               std::function<Task<Response>(PassedRequest)> serve);
  void follow_changes();
  Task<> follow_costs();
  Task<std::string> node_for(const Request& request);

  Services services_;
  std::unique_ptr<PassedCalls> calls_;
  std::unique_ptr<NodeBus> bus_;  ///< null without NATS
  std::unique_ptr<NodeLinks> links_;
  Placements* placements_ = nullptr;  ///< since the start
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

/// Opens the database that the settings name: a server's, or the file of the data directory. Throws StartError.
std::unique_ptr<StorageEngine> open_storage(Loop& loop, const DataDirectory& directory, const Settings& settings,
                                            const Secrets& secrets, NodeHandlers handlers);

}  // namespace agw
