#pragma once

#include <string_view>

#include "storage/connection.hpp"

struct fts5_api;  // NOLINT(readability-identifier-naming): named by SQLite

namespace agw {

/// SQLite's own interface to its full-text search: for words, for what a query hits, and for functions that rank.
fts5_api* full_text_api(Connection& connection);

/// Merges parts of the full-text table `index`, writing about so many pages; a negative number begins to make all parts
/// one. False when nothing is left to merge. Throws DatabaseError.
bool merge_full_text(Connection& connection, std::string_view index, int pages);

}  // namespace agw
