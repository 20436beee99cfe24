#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"

struct fts5_api;  // NOLINT(readability-identifier-naming): named by SQLite

namespace agw {

/// SQLite's FTS5 extension API, which tokenizers, ranking functions and the positions of matches need.
fts5_api* full_text_api(Connection& connection);

/// Merges segments of the FTS table `index`, writing about `pages` pages; a negative number starts a merge into one
/// segment. Returns false when there is nothing left to merge. Throws DatabaseError.
bool merge_full_text(Connection& connection, std::string_view index, int pages);

/// The number of segments of the FTS table `index`. Each insertion adds one, and a query reads all of them. Throws
/// DatabaseError.
std::int64_t count_segments(Connection& connection, std::string_view index);

/// The maximum number of words, because a query with more would be too long.
inline constexpr std::size_t max_words_with_part = 100;

/// Words of the FTS table `index` that contain `part` and begin with a digit or a letter of a script without spaces
/// (see base/text/word_segmentation.hpp): the first ones in code point order, and `part` itself. Scans all such words,
/// at most a million of each kind. Throws DatabaseError.
std::vector<std::string> words_with_part(Connection& connection, std::string_view index, const std::string& part);

/// A query that matches any of the words.
std::string any_word(const std::vector<std::string>& words);

}  // namespace agw
