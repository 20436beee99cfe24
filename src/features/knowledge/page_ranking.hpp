#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/knowledge/page_store.hpp"

// How pages are counted, weighed and chosen for a search, which is the same in both database engines.

namespace agw {

/// At most this many pages are ranked. If more match, those with rarer words are chosen, and those in which a common
/// word is prominent.
inline constexpr std::int64_t max_ranked_pages = 1000;

/// The matches of a term are counted up to this number.
inline constexpr std::int64_t max_counted_pages = 200;

/// The number of pages that match a term, of which `counted` were found, the last with the number `last`: exact if
/// there are few, otherwise extrapolated from the density of those.
std::int64_t approximate_matches(std::int64_t counted, std::int64_t last, const page_store::Extent& extent);

/// The factor by which a term counts that `pages` of `all_pages` pages contain (BM25's inverse document frequency).
double rarity(std::int64_t pages, std::int64_t all_pages);

/// A page and how well it matches.
struct RankedPage {
  std::int64_t number = 0;
  double score = 0;
};

/// The best `limit` pages, best first.
std::vector<RankedPage> best_pages(std::vector<RankedPage> found, std::size_t limit);

}  // namespace agw
