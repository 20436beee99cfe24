#pragma once

#include "server/metrics.hpp"
#include "server/server.hpp"
#include "storage/database.hpp"

namespace agw {

/// Adds connections, and what the database does.
void add_server_measures(Metrics& metrics, const Server& server, const Database& database);

}  // namespace agw
