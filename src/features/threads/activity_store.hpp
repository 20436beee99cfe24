#pragma once

#include <string>
#include <vector>

#include "features/threads/types.hpp"
#include "storage/connection.hpp"

namespace agw::activity_store {

/// The newest `limit` turns of all the agent's threads, newest first.
std::vector<ActivityRow> list(Connection& connection, const std::vector<std::string>& agent_ids, int limit);

}  // namespace agw::activity_store
