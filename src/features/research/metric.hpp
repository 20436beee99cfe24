#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// The result of a benchmark.
struct Metric {
  std::string name;
  double value = 0;  ///< finite
  std::optional<std::string> unit{};
  bool higher_is_better = true;
};

/// Finds lines such as `METRIC quality=0.8` in the output of a benchmark as it arrives, with bounded memory. Uses the
/// last value of the first name. A unit (`12.5ms`), `unit=…` and `better=lower` may follow the value.
class MetricReader {
public:
  void add(std::string_view bytes);
  /// Must be called at the end of the output: the last line may not end with a newline.
  void finish();

  /// No value if there was no such line, or if the last value is not a valid number.
  const std::optional<Metric>& metric() const { return metric_; }
  /// The reason for a missing value, as text for people.
  std::string problem() const;

private:
  void take_line();

  std::string line_;
  bool line_is_too_long_ = false;
  std::optional<Metric> metric_;
  std::string name_;
  std::string bad_value_;
};

/// The score in a model's answer to a rubric: the first number from 0 to 1; no value if there is none.
std::optional<double> read_score(std::string_view answer);

}  // namespace agw
