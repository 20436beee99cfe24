#pragma once

#include "storage/connection.hpp"

struct fts5_api;  // NOLINT(readability-identifier-naming): named by SQLite

namespace agw {

/// SQLite's own interface to its full-text search: for words, for what a query hits, and for functions that rank.
fts5_api* full_text_api(Connection& connection);

}  // namespace agw
