#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/route.hpp"

namespace agw {

class Costs;
class Runs;
class Server;
class Database;

/// `name="value"`, escaped for Prometheus.
std::string metric_label(std::string_view name, std::string_view value);

/// The metrics of `GET /metrics` in Prometheus' text format 0.0.4: requests by route and status, their durations, and
/// metrics added by other components. They never contain names of threads, agents or files.
class Metrics {
public:
  enum class Kind { counter, gauge, histogram };
  struct Sample {
    std::string labels;  ///< such as `model="a",kind="b"`, or empty
    double value = 0;
  };

  /// `read` is called on the loop for each `GET /metrics`.
  void add(std::string name, Kind kind, std::string help, std::function<double()> read);
  /// The same for a metric with several labeled values.
  void add_family(std::string name, Kind kind, std::string help, std::function<std::vector<Sample>()> read);

  /// Counts a response. `route` is null if no route matched.
  void count(const Route* route, int status, std::chrono::steady_clock::duration took);

  std::string text() const;

private:
  struct Metric {
    std::string name;
    Kind kind;
    std::string help;
    std::function<std::vector<Sample>()> read;
  };
  /// The upper bounds of the buckets in seconds: the first suits most responses, the last those that wait for models.
  static constexpr std::array limits{0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0};
  struct Requests {
    std::map<int, std::uint64_t> by_status;
    std::array<std::uint64_t, limits.size()> within{};  ///< by bucket, not cumulative
    std::uint64_t count = 0;
    double seconds = 0;
  };
  using RequestsByLabels = std::map<std::string, const Requests*>;
  static void append_counts(std::string& out, const RequestsByLabels& requests);
  static void append_times(std::string& out, const RequestsByLabels& requests);

  std::vector<Metric> metrics_;
  std::unordered_map<const Route*, Requests> requests_;
};

/// `/metrics`.
Routes metrics_routes(const Metrics& metrics);

/// Adds the metrics of the process: memory, processor time, start, open files.
void add_process_metrics(Metrics& metrics);

/// Adds the metrics of connections, the database, runs, and the models' usage and costs.
void add_gateway_metrics(Metrics& metrics, const Server& server, const Database& database, const Runs& runs,
                         const Costs& costs);

}  // namespace agw
