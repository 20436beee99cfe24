#pragma once

#include <vector>

#include "features/experiments/types.hpp"

namespace agw {

/// The part of an experiment that is used to compute a confidence.
struct Measurement {
  double value = 0;
  Verdict verdict{};
};

/// The confidence of the values of one metric, oldest first. 0 if there are fewer than three values or none was kept.
Confidence confidence_of(const std::vector<Measurement>& measurements, bool higher_is_better);

/// The median; 0 if `values` is empty.
double median_of(std::vector<double> values);

}  // namespace agw
