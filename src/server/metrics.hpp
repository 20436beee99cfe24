#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/route.hpp"

namespace agw {

/// What the gateway counts, as `GET /metrics` tells it in Prometheus' text format 0.0.4: requests by route and status,
/// and what others add. Names of threads, agents or files are in none of it.
class Metrics {
public:
  enum class Kind { counter, gauge };

  /// `read` is asked on the loop each time that somebody looks.
  void add(std::string name, Kind kind, std::string help, std::function<double()> read);

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
    std::function<double()> read;
  };
  struct Requests {
    std::map<int, std::uint64_t> by_status;
    std::chrono::steady_clock::duration took{};
  };
  Task<Answer> show(Request& request);

  std::vector<Measure> measures_;
  std::unordered_map<const Route*, Requests> requests_;
};

/// Adds what the kernel says of the process: memory, processor time, start, open files.
void add_process_measures(Metrics& metrics);

}  // namespace agw
