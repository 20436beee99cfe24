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

/// Whether load balancers should send requests to this gateway: a healthy process may still be unable to serve them.
///
/// It needs a server: tests/cluster/test_drain.py shows the use.
class Readiness {
public:
  struct Services {
    Loop& loop;
    Database& database;
    const Daemon& daemon;
    const Cluster& cluster;
    bool is_on_server = false;  ///< whether the database is a server's; a file is always available
  };
  explicit Readiness(const Services& services);

  /// The reasons against it, as sentences for people; empty if the gateway is ready. Takes at most about two seconds.
  Task<std::vector<std::string>> problems();
  Task<> stop();

private:
  Task<std::string> problem_of_database();
  Task<> check_database();

  const Services services_;
  std::string database_problem_;  ///< the result of the last check; empty if there was no problem
  bool is_checking_ = false;      ///< one check at a time serves all callers, because a server may hang
  AsyncEvent checked_;
  StopSource stopping_;
  TaskGroup group_;
};

/// `/ready`.
std::vector<Route> readiness_routes(Readiness& readiness);

}  // namespace agw
