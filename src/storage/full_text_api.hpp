#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"

struct fts5_api;  // NOLINT(readability-identifier-naming): named by SQLite

namespace agw {

/// SQLite's own interface to its full-text search: for words, for what a query hits, and for functions that rank.
fts5_api* full_text_api(Connection& connection);

/// Merges parts of the full-text table `index`, writing about so many pages; a negative number begins to make all parts
/// one. False when nothing is left to merge. Throws DatabaseError.
bool merge_full_text(Connection& connection, std::string_view index, int pages);

/// More of them make too long a query.
inline constexpr std::size_t most_words_with_part = 100;

/// Words of the full-text table `index` that have `part` in them and begin with a digit or a letter of a script without
/// blanks (see base/unspaced.hpp): the first ones, in the order of their code points, and `part` itself. Looks at all
/// such words, a million of either at most. Throws DatabaseError.
std::vector<std::string> words_with_part(Connection& connection, std::string_view index, const std::string& part);

/// The query that each of these words matches.
std::string any_word(const std::vector<std::string>& words);

}  // namespace agw
