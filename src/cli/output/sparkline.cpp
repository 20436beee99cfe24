#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "cli/output/table.hpp"

namespace agw::cli {

std::string sparkline(const std::vector<double>& values) {
  static constexpr std::array<std::string_view, 8> bars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto greatest = values.empty() ? 0 : *std::ranges::max_element(values);
  std::string line;
  for (const auto value : values) {
    const auto height = greatest > 0 ? std::clamp(value / greatest, 0.0, 1.0) * (bars.size() - 1) : 0;
    line += bars[static_cast<std::size_t>(std::lround(height))];
  }
  return line;
}

}  // namespace agw::cli
