#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/changes.hpp"
#include "storage/connection.hpp"

namespace agw::postgres {

/// A node has a lease in `gateway_owner`, good for ten seconds by the server's clock, which its ChangeFeed renews every
/// two. Each of its transactions looks for its id there. A node that finds the lease of another expired may claim that
/// node: this replaces the id, so that a node that only seemed dead can write nothing more, and restarts.
///
/// The claim is a lease too: if the claimer dies before `release`, the next one claims.
/// All orders of what two nodes do are tried in lease_model_test.cpp.
/// Example: src/storage/postgres/lease_test.cpp: LeaseTest.NothingIsWrittenAfterAClaimInAnyOrder

/// Renews the lease of the node with that id, which has seen the changes up to that number. False if it was claimed.
bool renew(Connection& connection, const std::string& id, std::int64_t seen);
/// A node whose lease has expired, other than the one with that id.
std::optional<LostNode> find_lost(Connection& connection, const std::string& id);

/// Inside a write: claims the node, as `claim`, and ends its sessions. False if its lease is good, or was claimed.
bool claim(Connection& connection, const LostNode& lost, const std::string& claim);
/// Inside a write: what the lost node had begun is done.
void release(Connection& connection, const std::string& claim);

/// Inside the last write of a node that ends: gives up its lease, unless something that it had begun is left. From then
/// on it writes nothing.
void leave(Connection& connection);

/// Until its end, within a write: `is_of_this_node` means what that node has begun, as if this were its next start.
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
