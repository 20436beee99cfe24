#pragma once

#include "features/costs/service.hpp"
#include "features/runs/service.hpp"
#include "server/metrics.hpp"
#include "server/server.hpp"
#include "storage/database.hpp"

namespace agw {

/// Adds the metrics of connections, the database, runs, and the models' usage and costs.
void add_gateway_metrics(Metrics& metrics, const Server& server, const Database& database, const Runs& runs,
                         const Costs& costs);

}  // namespace agw
