#pragma once

#include "features/costs/service.hpp"
#include "features/runs/service.hpp"
#include "server/metrics.hpp"
#include "server/server.hpp"
#include "storage/database.hpp"

namespace agw {

/// Adds connections, what the database does, runs, and what models used and cost.
void add_measures(Metrics& metrics, const Server& server, const Database& database, const Runs& runs,
                  const Costs& costs);

}  // namespace agw
