#pragma once

#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/experiments/types.hpp"

namespace agw {

class Connection;
class Database;

/// The log of what was tried, and what the numbers in it say.
class Experiments {
public:
  explicit Experiments(Database& database) : database_(database) {}

  /// Within somebody's write: adds the row, whose id and time were made outside of it.
  static void record(Connection& connection, const Experiment& experiment);
  /// Whether a row of that iteration is there.
  static bool has_iteration(Connection& connection, const std::string& iteration_id);

  /// Newest first.
  Task<std::vector<Experiment>> list(ExperimentFilter filter);
  /// Throws NotFound `experiment not found`.
  Task<Experiment> require(std::string id);
  /// Zeros for a domain that nothing was measured of.
  Task<DomainConfidence> confidence(ConfidenceQuery query);

private:
  Database& database_;
};

}  // namespace agw
