#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "features/threads/search_query.hpp"

namespace agw {

/// The part of `text` that contains most of the search terms: about `snippet_bytes`, on one line, with `…` for what was
/// left out. `tokens` are those of `text`.
std::string snippet_of(std::string_view text, const std::vector<IndexedWord>& tokens, const SearchQuery& query);

inline constexpr std::size_t snippet_bytes = 160;

}  // namespace agw
