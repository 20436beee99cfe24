#include "cli/similar_word.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace agw::cli {

namespace {

/// The number of letters to add, remove, replace or swap with the next one (optimal string alignment).
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::vector<std::size_t>> rows(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  std::iota(rows[0].begin(), rows[0].end(), 0);
  for (std::size_t i = 1; i <= one.size(); ++i) {
    rows[i][0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const auto replaced = rows[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      rows[i][j] = std::min({replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      const bool is_swap = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
      if (is_swap) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows.back().back();
}

}  // namespace

std::string similar_word(std::string_view typed, const std::vector<std::string>& known) {
  constexpr std::size_t max_distance = 2, max_length = 64;
  if (known.empty() || typed.size() > max_length) return {};
  const auto by_distance = [typed](std::string_view word) { return distance(typed, word); };
  const auto& nearest = *std::ranges::min_element(known, {}, by_distance);
  const auto difference = by_distance(nearest);
  return difference <= max_distance && difference * 3 <= typed.size() ? nearest : std::string();
}

}  // namespace agw::cli
