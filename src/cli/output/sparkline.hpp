#pragma once

#include <string>
#include <vector>

namespace agw::cli {

/// A bar chart of values, none of them negative, scaled to the largest: `▂▁█▄`.
std::string sparkline(const std::vector<double>& values);

}  // namespace agw::cli
