#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw::bench {

/// Collects times in seconds for a summary.
class Times {
public:
  void add(double seconds) { times_.push_back(seconds); }
  std::size_t count() const { return times_.size(); }
  /// `{"count": …, "p50": …, "p99": …, "max": …}`, in seconds.
  std::string to_json();

private:
  std::vector<double> times_;
};

/// Adds the age of each `@<nanoseconds> ` in `text` (written by bench/upstream.cpp). Returns the position after the
/// last complete one.
std::size_t collect_delays(std::string_view text, Times& delays);

}  // namespace agw::bench
