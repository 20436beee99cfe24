#pragma once

#include <filesystem>
#include <string>

#include "storage/connection.hpp"
#include "storage/postgres/address.hpp"

namespace agw::postgres {

/// Where a node keeps its files.
struct NodeFiles {
  std::string node;
  std::filesystem::path data_directory;  ///< the directory shared by all nodes; empty if each node has its own
};

/// For a node registered in the database: creates its marker in the shared data directory and checks for the markers of
/// all running nodes. If one is missing, that node uses another directory: removes the registration and throws
/// StartError (1). Does the same if only some of the nodes share their files.
///
/// It needs several nodes; tests/cluster/test_shared_files.py shows its use.
void find_nodes(Connection& connection, const Address& address, const NodeFiles& files);

}  // namespace agw::postgres
