#pragma once

#include <string>
#include <vector>

namespace agw::cli {

/// A bar for each value, none of them negative, as high beside the others as it is great: `▂▁█▄`.
std::string sparkline(const std::vector<double>& values);

}  // namespace agw::cli
