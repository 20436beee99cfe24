#pragma once

#include <filesystem>
#include <string>

#include "storage/connection.hpp"
#include "storage/postgres/address.hpp"

namespace agw::postgres {

/// How a node has its files.
struct NodeFiles {
  std::string node;
  std::filesystem::path data_directory;  ///< that all nodes are to share; empty: each has one of its own
};

/// For a node that is entered in the database: leaves its marker in the shared data directory, and looks for those of
/// all nodes that run. Throws StartError (1), and takes the entry back, if one is missing: then that node has another
/// directory. The same if nodes share their files and this one does not, or the other way around.
///
/// It needs nodes: tests/cluster/test_shared_files.py shows the use.
void find_nodes(Connection& connection, const Address& address, const NodeFiles& files);

}  // namespace agw::postgres
