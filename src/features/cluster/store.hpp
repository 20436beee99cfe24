#pragma once

#include <cstdint>
#include <string>

#include "storage/connection.hpp"

namespace agw::cluster_store {

// For databases of PostgreSQL, as all of this room.

/// The name and secret by which the nodes of this cluster recognise each other's messages.
struct Identity {
  std::string cluster;
  std::string secret;
  std::int64_t epoch = 0;  ///< of this start, higher than all before it
};
Identity identity(Connection& connection);

/// Whether this gateway may write: it has a lease that is good, or needs none.
bool has_lease(Connection& connection);

// The other node that has the run which the record belongs to, or the program; empty if this node has it, or nobody.

std::string node_of_thread(Connection& connection, const std::string& thread_id);
std::string node_of_turn(Connection& connection, const std::string& turn_id);
std::string node_of_permission(Connection& connection, const std::string& id);
std::string node_of_job_run(Connection& connection, const std::string& id);
/// That runs the program of an extension: its id or name.
std::string node_of_program(Connection& connection, const std::string& extension);

/// Where a node is reached by the others; empty if they cannot. See NodeLinks::address_on_loopback.
struct NodeAddress {
  std::string address;
  std::int64_t epoch = 0;  ///< of its latest start
};
NodeAddress address_of(Connection& connection, const std::string& node);
/// Of this node.
void set_address(Connection& connection, const NodeAddress& address);

}  // namespace agw::cluster_store
