#include "features/experiments/service.hpp"

#include "api/error.hpp"
#include "features/experiments/store.hpp"
#include "storage/database.hpp"

namespace agw {

void Experiments::record(Connection& connection, const Experiment& experiment) {
  experiment_store::insert(connection, experiment);
}

bool Experiments::has_iteration(Connection& connection, const std::string& iteration_id) {
  return experiment_store::has_iteration(connection, iteration_id);
}

Task<std::vector<Experiment>> Experiments::list(ExperimentFilter filter) {
  co_return co_await database_.read(
      [filter = std::move(filter)](Connection& connection) { return experiment_store::list(connection, filter); });
}

Task<Experiment> Experiments::require(std::string id) {
  auto found = co_await database_.read([id](Connection& connection) { return experiment_store::find(connection, id); });
  if (!found) throw NotFound("experiment not found");
  co_return std::move(*found);
}

Task<DomainConfidence> Experiments::confidence(ConfidenceQuery query) {
  co_return co_await database_.read([query = std::move(query)](Connection& connection) {
    const auto measured = experiment_store::measurements(connection, query);
    return DomainConfidence{.domain = query.domain,
                            .metric = query.metric,
                            .confidence = confidence_of(measured.values, measured.higher_is_better),
                            .consecutiveDiscards = experiment_store::consecutive_discards(connection, query)};
  });
}

}  // namespace agw
