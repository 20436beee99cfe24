#pragma once

#include <string>
#include <vector>

#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"
#include "base/async/task_group.hpp"

namespace agw {

class Cluster;
class Daemon;
class Database;
struct Route;

/// Whether requests should be sent here, for load balancers: the process may be healthy and still not be of use.
///
/// It needs a server: tests/cluster/test_drain.py shows the use.
class Readiness {
public:
  struct Services {
    Loop& loop;
    Database& database;
    const Daemon& daemon;
    const Cluster& cluster;
    bool is_on_server = false;  ///< the database; a file is always there
  };
  explicit Readiness(const Services& services);

  /// Why not, as sentences for people; empty if requests are welcome. Within two seconds.
  Task<std::vector<std::string>> problems();
  Task<> stop();

private:
  Task<std::string> problem_of_database();
  Task<> look();

  const Services services_;
  std::string found_;        ///< by the last look at the database
  bool is_looking_ = false;  ///< one at a time, however many ask, as a server may be silent for long
  AsyncEvent looked_;
  StopSource stopping_;
  TaskGroup group_;
};

/// `/ready`.
std::vector<Route> readiness_routes(Readiness& readiness);

}  // namespace agw
