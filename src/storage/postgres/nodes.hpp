#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace agw::postgres {

/// A node of a cluster, according to the database.
struct NodeStatus {
  std::string name;
  double lease = 0;                    ///< remaining seconds; negative if expired
  std::optional<std::string> address;  ///< of its host; null if its session has ended or is not visible
  std::optional<std::string> connected_at;
  bool leads = false;       ///< whether it is the leader, which does the work for one node only, such as channels
  std::int64_t runs = 0;    ///< running or queued
  std::string version;      ///< of its agw; empty if that release does not record it
  std::int64_t behind = 0;  ///< the number of changes that it had not seen at its last renewal, some seconds ago
  double ahead = 0;         ///< seconds by which its clock was ahead of the server's at that time
};

/// The nodes with a lease, sorted by name. Blocks. Throws StartError if the database cannot be used.
///
/// It needs several nodes; tests/cluster/test_status.py shows its use.
std::vector<NodeStatus> node_statuses(const std::string& url);

/// An extension whose program runs on a single node, and that node; empty if it does not run yet.
struct PlacedProgram {
  std::string name;
  std::string node;
};
/// Sorted by name. Blocks. Throws as `node_statuses` does.
std::vector<PlacedProgram> placed_programs(const std::string& url);

}  // namespace agw::postgres
