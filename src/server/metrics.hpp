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

/// `name="value"`, with what Prometheus wants escaped.
std::string metric_label(std::string_view name, std::string_view value);

/// What the gateway counts, as `GET /metrics` tells it in Prometheus' text format 0.0.4: requests by route and status,
/// how long they took, and what others add. Names of threads, agents or files are in none of it.
class Metrics {
public:
  enum class Kind { counter, gauge, histogram };
  struct Sample {
    std::string labels;  ///< such as `model="a",kind="b"`; empty for none
    double value = 0;
  };

  /// `read` is asked on the loop each time that somebody looks.
  void add(std::string name, Kind kind, std::string help, std::function<double()> read);
  /// The same for one that has a value for each of several labels.
  void add_family(std::string name, Kind kind, std::string help, std::function<std::vector<Sample>()> read);

  /// A request was answered. `route` is null for one that no route was found for.
  void count(const Route* route, int status, std::chrono::steady_clock::duration took);

  /// What stands in the table of routes.
  Routes routes();
  std::string text() const;

private:
  struct Measure {
    std::string name;
    Kind kind;
    std::string help;
    std::function<std::vector<Sample>()> read;
  };
  /// Seconds: most answers take less than one of the first, models' take one of the last.
  static constexpr std::array limits{0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0};
  struct Requests {
    std::map<int, std::uint64_t> by_status;
    std::array<std::uint64_t, limits.size()> within{};  ///< and not within the limit before
    std::uint64_t count = 0;
    double seconds = 0;
  };
  using RequestsByLabels = std::map<std::string, const Requests*>;
  Task<Answer> show(Request& request);
  static void append_counts(std::string& out, const RequestsByLabels& requests);
  static void append_times(std::string& out, const RequestsByLabels& requests);

  std::vector<Measure> measures_;
  std::unordered_map<const Route*, Requests> requests_;
};

/// Adds what the kernel says of the process: memory, processor time, start, open files.
void add_process_measures(Metrics& metrics);

}  // namespace agw
