#pragma once

#include <vector>

#include "features/experiments/types.hpp"

namespace agw {

/// What of an experiment a confidence is computed from.
struct Measurement {
  double value = 0;
  Verdict verdict{};
};

/// Of the values of one metric, in their order. 0 with fewer than three values or with none kept.
Confidence confidence_of(const std::vector<Measurement>& measurements, bool higher_is_better);

/// 0 of nothing.
double median_of(std::vector<double> values);

}  // namespace agw
