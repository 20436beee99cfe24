#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agw::bench {

/// Times in seconds, collected to be summed up.
class Times {
public:
  void add(double seconds) { times_.push_back(seconds); }
  std::size_t count() const { return times_.size(); }
  /// `{"count": …, "p50": …, "p99": …, "max": …}`, in seconds.
  std::string to_json();

private:
  std::vector<double> times_;
};

/// Adds how long ago each `@<nanoseconds> ` of `text` was written (bench/upstream.cpp), and returns the position behind
/// the last whole one.
std::size_t collect_delays(std::string_view text, Times& delays);

}  // namespace agw::bench
