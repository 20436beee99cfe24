#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/knowledge/page_store.hpp"

// The part of the ranking that both database engines share: how pages are counted, weighted and chosen.

namespace agw {

/// At most this many pages are ranked. If more match, pages with rarer words are chosen, and pages in which a common
/// word is prominent.
inline constexpr std::int64_t max_ranked_pages = 1000;

/// The matches of a term are counted up to this number.
inline constexpr std::int64_t max_counted_pages = 200;

/// The number of pages that match a term. `counted` of them were found, up to row number `last`. Exact for a few
/// matches, otherwise extrapolated from their density.
std::int64_t approximate_matches(std::int64_t counted, std::int64_t last, const page_store::Extent& extent);

/// The weight of a term that `pages` of `all_pages` pages contain (BM25's inverse document frequency).
double rarity(std::int64_t pages, std::int64_t all_pages);

/// A page and how well it matches.
struct RankedPage {
  std::int64_t number = 0;
  double score = 0;
};

/// The best `limit` pages, best first.
std::vector<RankedPage> best_pages(std::vector<RankedPage> found, std::size_t limit);

}  // namespace agw
