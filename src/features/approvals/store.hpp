#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/time.hpp"
#include "features/approvals/types.hpp"
#include "storage/connection.hpp"

namespace agw::approval_store {

/// Stores a request, or what it has become.
void put(Connection& connection, const PermissionRequest& request);
bool exists(Connection& connection, const std::string& id);

/// Those that wait at other nodes of the cluster. For databases of PostgreSQL.
std::vector<PermissionRequest> waiting_elsewhere(Connection& connection);

/// Ends the requests that a killed gateway left, as denied. Returns how many there were.
int end_interrupted(Connection& connection, Timestamp now);
/// Deletes some of those that were decided before `oldest`.
void purge(Connection& connection, Timestamp oldest);

void insert(Connection& connection, const Grant& grant);
void remove_grant(Connection& connection, const std::string& id);
/// In the order in which they were made.
std::vector<Grant> grants(Connection& connection);

}  // namespace agw::approval_store
