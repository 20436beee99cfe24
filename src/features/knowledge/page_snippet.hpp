#pragma once

#include "storage/connection.hpp"

namespace agw {

/// Registers the SQL function `page_snippet(knowledge_words)` on the connection. It returns the few words of a matched
/// row's body that show most of the query's phrases, or the body's beginning if it contains none. Linear in the length
/// of the text; SQLite's own `snippet` compares all hits with each other, which takes minutes for a log of ten thousand
/// lines.
void add_page_snippet(Connection& connection);

}  // namespace agw
