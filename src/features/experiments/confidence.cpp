#include "features/experiments/confidence.hpp"

#include <algorithm>
#include <cmath>

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr double max_confidence = 9999;
/// A smaller spread is a rounding error and is treated as zero.
constexpr double no_spread = 1e-9;
constexpr std::size_t min_values = 3;

std::optional<double> best_kept(const std::vector<Measurement>& measurements, bool higher_is_better) {
  std::optional<double> best;
  for (const auto& [value, verdict] : measurements) {
    if (verdict != Verdict::keep) continue;
    if (!best || (higher_is_better ? value > *best : value < *best)) best = value;
  }
  return best;
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  // Halved first: the sum of two large values would overflow.
  return *std::max_element(values.begin(), middle) / 2 + *middle / 2;
}

Confidence confidence_of(const std::vector<Measurement>& measurements, bool higher_is_better) {
  std::vector<double> values(measurements.size());
  std::ranges::transform(measurements, values.begin(), &Measurement::value);
  const double median = median_of(values);
  for (auto& value : values) value = std::abs(value - median);

  Confidence found{.sampleSize = static_cast<std::int64_t>(values.size()), .mad = median_of(std::move(values))};
  // The difference of large values can overflow, and JSON has no infinity.
  if (!std::isfinite(found.mad)) found.mad = std::numeric_limits<double>::max();
  const auto best = best_kept(measurements, higher_is_better);
  if (!best || measurements.size() < min_values) return found;
  const double distance = std::abs(*best - measurements.front().value);
  found.confidence = found.mad < no_spread ? max_confidence : std::min(distance / found.mad, max_confidence);
  AGW_DEBUG_ASSERT(found.confidence >= 0);
  AGW_DEBUG_ASSERT(found.confidence <= max_confidence);
  return found;
}

}  // namespace agw
