#pragma once

#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/experiments/types.hpp"

namespace agw {

struct Route;
class Connection;
class Database;

/// The log of experiments, and statistics about it.
class Experiments {
public:
  explicit Experiments(Database& database) : database_(database) {}

  /// Adds the row. Call it inside a write; create the id and the time outside of it.
  static void record(Connection& connection, const Experiment& experiment);
  /// Whether the log has a row for that iteration.
  static bool has_iteration(Connection& connection, const std::string& iteration_id);

  /// Newest first.
  Task<std::vector<Experiment>> list(ExperimentFilter filter);
  /// Throws NotFound `experiment not found`.
  Task<Experiment> require(std::string id);
  /// All zero if the domain has no measurements.
  Task<DomainConfidence> confidence(ConfidenceQuery query);

private:
  Database& database_;
};

/// `/autoresearch/experiments` and `/autoresearch/confidence`.
std::vector<Route> experiment_routes(Experiments& experiments);

}  // namespace agw
