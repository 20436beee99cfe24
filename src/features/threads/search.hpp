#pragma once

#include <vector>

#include "features/threads/types.hpp"
#include "storage/connection.hpp"

namespace agw {

/// Searches in one snapshot: what is indexed through the index, what is not yet by reading it. Best matches first,
/// judged by how rare the words are and how often and in how short a turn they stand (BM25); of words that very many
/// turns have, the newest `most_candidates` turns are judged, of none but common ones in a large index the newest
/// `most_common_candidates`, or as many as are wanted. `wanted.agent_id` is an id here.
std::vector<FoundTurn> search_turns(Connection& connection, const TurnSearch& wanted);

inline constexpr std::size_t most_candidates = 500;
inline constexpr std::size_t most_common_candidates = 200;

/// From how many turns on the index is asked for the rarer words alone, and the rest is looked up in the turns found.
inline constexpr std::int64_t large_index = 10'000;

}  // namespace agw
