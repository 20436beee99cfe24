#pragma once

#include <optional>
#include <string>
#include <vector>

#include "features/experiments/confidence.hpp"
#include "features/experiments/types.hpp"
#include "storage/connection.hpp"

/// The SQL of experiments.
namespace agw::experiment_store {

void insert(Connection& connection, const Experiment& experiment);
std::optional<Experiment> find(Connection& connection, const std::string& id);
/// Scans all rows. Used only at startup, and rarely.
bool has_iteration(Connection& connection, const std::string& iteration_id);
/// Newest first.
std::vector<Experiment> list(Connection& connection, const ExperimentFilter& filter);

/// The values of a metric, oldest first, and whether higher ones are better, according to its first row.
struct Measurements {
  std::vector<Measurement> values;
  bool higher_is_better = true;
};
Measurements measurements(Connection& connection, const ConfidenceQuery& query);

/// The number of discards of the metric and crashes of the domain after the metric's last keep.
std::int64_t consecutive_discards(Connection& connection, const ConfidenceQuery& query);

}  // namespace agw::experiment_store
