#pragma once

#include <vector>

#include "features/threads/types.hpp"
#include "storage/connection.hpp"

namespace agw {

class UnindexedWords;

/// Searches in one snapshot: indexed turns through the index, newer ones by reading them. Best matches first, ranked by
/// BM25 (rare words, many occurrences, short turns). If very many turns match, only the newest `max_candidates` are
/// ranked; if all words are common and the index is large, the newest `max_common_candidates`, or as many as are
/// wanted. `wanted.agent_id` is an id here.
std::vector<FoundTurn> search_turns(Connection& connection, const TurnSearch& wanted, const UnindexedWords& unindexed);

inline constexpr std::size_t max_candidates = 500;
inline constexpr std::size_t max_common_candidates = 200;

/// With at least so many turns, the index is queried for the rarer words only; the others are checked in the turns
/// found.
inline constexpr std::int64_t large_index = 10'000;

}  // namespace agw
