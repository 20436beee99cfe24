#pragma once

#include "base/async/task_group.hpp"
#include "storage/change_follower.hpp"
#include "storage/changes.hpp"

namespace agw {

class Approvals;
class Clock;
class Database;
class Engine;
class Extensions;
class ModelServices;
class Projects;
class Stages;

/// What a node of a cluster does because of the others: follows what they change, and ends what a lost one had begun.
///
/// It needs nodes, and so a server: tests/cluster/test_take_over.py shows the use.
class Cluster {
public:
  struct Services {
    Loop& loop;
    Database& database;
    const Clock& clock;
    ChangeFollower& follower;
    Projects& projects;
    Extensions& extensions;
    ModelServices& model_services;
    Stages& stages;
    Approvals& approvals;
    Engine& engine;
  };
  explicit Cluster(Services services);

  /// From now on, changes of other nodes are read.
  void start();
  /// The lease of that node has expired: does what its next start would do, unless another node does.
  void take_over(const LostNode& lost);
  Task<> stop();

private:
  Task<> taking_over(LostNode lost);

  Services services_;
  bool is_taking_over_ = false;
  TaskGroup group_;
};

}  // namespace agw
