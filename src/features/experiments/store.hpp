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
/// Looks through all rows: for a start, which seldom asks.
bool has_iteration(Connection& connection, const std::string& iteration_id);
/// Newest first.
std::vector<Experiment> list(Connection& connection, const ExperimentFilter& filter);

/// The values of a metric, in their order, and whether a higher one is better, as its first row says.
struct Measurements {
  std::vector<Measurement> values;
  bool higher_is_better = true;
};
Measurements measurements(Connection& connection, const ConfidenceQuery& query);

/// How many of the metric's rows, and of all crashes of the domain, are behind its last keep.
std::int64_t consecutive_discards(Connection& connection, const ConfidenceQuery& query);

}  // namespace agw::experiment_store
