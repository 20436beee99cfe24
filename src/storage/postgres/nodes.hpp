#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace agw::postgres {

/// A node of a cluster as the database knows it.
struct NodeStatus {
  std::string name;
  double lease = 0;                    ///< seconds for which it is good; negative since it has expired
  std::optional<std::string> address;  ///< that it is connected from; null if its session is gone or not visible
  std::optional<std::string> connected_at;
  bool leads = false;       ///< it does what only one node may do, such as channels
  std::int64_t runs = 0;    ///< that are under way or wait
  std::string version;      ///< of its agw; empty if that is too old to say so
  std::int64_t behind = 0;  ///< changes that it had not seen when it last renewed its lease, some seconds ago
  double ahead = 0;         ///< seconds by which its clock was ahead of the server's then
};

/// The nodes that have a lease, in the order of their names. Blocks. Throws StartError if the database cannot be used.
///
/// It needs nodes: tests/cluster/test_status.py shows the use.
std::vector<NodeStatus> node_statuses(const std::string& url);

/// An extension whose program one node runs, and that node; empty: none does yet.
struct PlacedProgram {
  std::string name;
  std::string node;
};
/// In the order of their names. Blocks. Throws as `node_statuses` does.
std::vector<PlacedProgram> placed_programs(const std::string& url);

}  // namespace agw::postgres
