#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/time.hpp"
#include "features/approvals/types.hpp"
#include "storage/connection.hpp"

namespace agw::approval_store {

/// Inserts or updates a request.
void put(Connection& connection, const PermissionRequest& request);
bool exists(Connection& connection, const std::string& id);

/// The requests that wait at other nodes of the cluster. Only for PostgreSQL.
std::vector<PermissionRequest> waiting_elsewhere(Connection& connection);

/// Ends the requests that a killed gateway left undecided, as denied. Returns their number.
int end_interrupted(Connection& connection, Timestamp now);
/// Deletes some of the requests that were decided before `oldest`.
void purge(Connection& connection, Timestamp oldest);

void insert(Connection& connection, const Grant& grant);
/// Returns whether there was one.
bool remove_grant(Connection& connection, const std::string& id);
/// All grants, in order of creation.
std::vector<Grant> grants(Connection& connection);
/// The ids of those grants whose agent, thread, action or integration does not exist, or whose thread is archived.
std::vector<std::string> outlived(Connection& connection, const std::vector<Grant>& grants);

}  // namespace agw::approval_store
