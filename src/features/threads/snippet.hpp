#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "features/threads/search_query.hpp"

namespace agw {

/// The piece of `text` that shows most of what was sought, about `snippet_bytes` of it on one line, `…` where something
/// was left out. `tokens` are those of `text`.
std::string snippet_of(std::string_view text, const std::vector<IndexedWord>& tokens, const SearchQuery& query);

inline constexpr std::size_t snippet_bytes = 160;

}  // namespace agw
