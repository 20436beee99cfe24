#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// What a benchmark has measured.
struct Metric {
  std::string name;
  double value = 0;  ///< finite
  std::optional<std::string> unit{};
  bool higher_is_better = true;
};

/// Looks for lines such as `METRIC quality=0.8` in the output of a benchmark as it comes, in bounded memory. The first
/// name counts, with the last value that it is given. Behind the value may stand a unit (`12.5ms`), `unit=…`, and
/// `better=lower`.
class MetricReader {
public:
  void add(std::string_view bytes);
  /// Once the output has ended: the last line may have no end.
  void finish();

  /// Nothing where there was no line, or the last of them is no number.
  const std::optional<Metric>& metric() const { return metric_; }
  /// Why there is none, for people.
  std::string problem() const;

private:
  void take_line();

  std::string line_;
  bool line_is_too_long_ = false;
  std::optional<Metric> metric_;
  std::string name_;
  std::string bad_value_;
};

/// The score that a model gives by a rubric: the first number from 0 to 1 in its answer; nothing where there is none.
std::optional<double> read_score(std::string_view answer);

}  // namespace agw
