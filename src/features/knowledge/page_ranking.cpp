#include "features/knowledge/page_ranking.hpp"

#include <algorithm>
#include <cmath>

#include "base/async/assert.hpp"

namespace agw {

std::int64_t approximate_matches(std::int64_t counted, std::int64_t last, const page_store::Extent& extent) {
  AGW_ASSERT(counted >= 0);
  AGW_ASSERT(counted <= max_counted_pages);
  if (counted < max_counted_pages) return counted;
  return std::clamp(counted * extent.last / std::max<std::int64_t>(1, last), counted, std::max(counted, extent.pages));
}

double rarity(std::int64_t pages, std::int64_t all_pages) {
  const auto with = static_cast<double>(pages), all = static_cast<double>(std::max(all_pages, pages));
  return std::log(1 + (all - with + 0.5) / (with + 0.5));
}

std::vector<RankedPage> best_pages(std::vector<RankedPage> found, std::size_t limit) {
  const auto better = [](const RankedPage& a, const RankedPage& b) {
    return a.score != b.score ? a.score > b.score : a.number < b.number;
  };
  AGW_ASSERT(found.size() <= static_cast<std::size_t>(max_ranked_pages));
  AGW_DEBUG_ASSERT(std::ranges::none_of(found, [](const RankedPage& page) { return std::isnan(page.score); }));
  const auto kept = std::min(limit, found.size());
  std::ranges::partial_sort(found, found.begin() + static_cast<std::ptrdiff_t>(kept), better);
  found.resize(kept);
  return found;
}

}  // namespace agw
