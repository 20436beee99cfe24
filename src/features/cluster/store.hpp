#pragma once

#include <cstdint>
#include <string>

#include "storage/connection.hpp"

namespace agw::cluster_store {

// For PostgreSQL only, like this whole room.

/// The name and secret by which the nodes of this cluster authenticate each other's messages.
struct Identity {
  std::string cluster;
  std::string secret;
  std::int64_t epoch = 0;  ///< identifies this start; increases with each start
};
Identity identity(Connection& connection);

/// Whether this gateway may write: it has a valid lease, or needs none.
bool has_lease(Connection& connection);

// The other node that has the run of a record, or runs a program; empty if this node has it, or none.

std::string node_of_thread(Connection& connection, const std::string& thread_id);
std::string node_of_turn(Connection& connection, const std::string& turn_id);
std::string node_of_permission(Connection& connection, const std::string& id);
std::string node_of_job_run(Connection& connection, const std::string& id);
/// The node that runs the program of the extension with this id or name.
std::string node_of_program(Connection& connection, const std::string& extension);

/// The address at which other nodes reach a node; empty if they cannot. See NodeLinks::address_on_loopback.
struct NodeAddress {
  std::string address;
  std::int64_t epoch = 0;  ///< of the node's latest start
};
NodeAddress address_of(Connection& connection, const std::string& node);
/// Sets the address of this node.
void set_address(Connection& connection, const NodeAddress& address);

}  // namespace agw::cluster_store
