#pragma once

#include <vector>

#include "features/threads/types.hpp"
#include "storage/connection.hpp"

namespace agw {

class UnindexedWords;

/// Searches in one snapshot: indexed turns through the index, newer ones by reading them. Best matches first, ranked by
/// BM25 (rare words, many occurrences, short turns). If very many turns match, only the newest `max_candidates` are
/// ranked; if all words are common, only the newest `max_common_candidates`. Both bounds rise to `wanted.limit` if that
/// is greater. `wanted.agent_id` must be an id, not a name.
std::vector<FoundTurn> search_turns(Connection& connection, const TurnSearch& wanted, const UnindexedWords& unindexed);

inline constexpr std::size_t max_candidates = 500;
inline constexpr std::size_t max_common_candidates = 200;

/// From this number of turns on, the index is queried for the rarer words only; the other words are checked in the text
/// of the turns found.
inline constexpr std::int64_t large_index = 10'000;

}  // namespace agw
