#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/changes.hpp"
#include "storage/connection.hpp"

namespace agw::postgres {

/// Each node has a lease in `gateway_owner`, valid for ten seconds of the server's clock and renewed every two by its
/// ChangeFeed. Each of its transactions checks that its id is there. A node that finds an expired lease may claim the
/// other node: this replaces the id, so that a node wrongly considered dead can no longer write, and restarts. A claim
/// is a lease too: if the claiming node fails before `release`, another node claims. lease_model_test.cpp tries all
/// orders of the steps of two nodes.
///
/// Example: src/storage/postgres/lease_test.cpp: LeaseTest.NothingIsWrittenAfterAClaimInAnyOrder

/// Renews the lease of the node `id`, which has seen all changes up to number `seen`. Returns false if it was claimed.
bool renew(Connection& connection, const std::string& id, std::int64_t seen);
/// A node with an expired lease, other than the node `id`.
std::optional<LostNode> find_lost(Connection& connection, const std::string& id);

/// Within a write: claims the lost node under the id `claim` and ends its sessions. Returns false if its lease is valid
/// or another node has claimed it.
bool claim(Connection& connection, const LostNode& lost, const std::string& claim);
/// Within a write: ends the claim, because the lost node's unfinished work has been dealt with.
void release(Connection& connection, const std::string& claim);

/// Within the last write of a node that stops: ends its lease, unless it leaves unfinished work. Afterwards the node
/// must not write.
void leave(Connection& connection);

/// During its lifetime and within a write, `is_of_this_node` refers to the work of `node`, as if that node were
/// starting.
class AsNode {
public:
  AsNode(Connection& connection, const std::string& node);
  ~AsNode();
  AsNode(const AsNode&) = delete;
  AsNode& operator=(const AsNode&) = delete;

private:
  Connection& connection_;
  std::string own_;
};

}  // namespace agw::postgres
