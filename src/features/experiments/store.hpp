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
/// Scans all rows. Only for the start, which rarely needs it.
bool has_iteration(Connection& connection, const std::string& iteration_id);
/// Newest first.
std::vector<Experiment> list(Connection& connection, const ExperimentFilter& filter);

/// The values of a metric, oldest first, and whether higher ones are better, according to its first row.
struct Measurements {
  std::vector<Measurement> values;
  bool higher_is_better = true;
};
Measurements measurements(Connection& connection, const ConfidenceQuery& query);

/// How many of the metric's discards, and of the domain's crashes, followed the metric's last keep.
std::int64_t consecutive_discards(Connection& connection, const ConfidenceQuery& query);

}  // namespace agw::experiment_store
