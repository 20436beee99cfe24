#pragma once

#include "storage/connection.hpp"

namespace agw {

/// Makes `page_snippet(knowledge_words)` known to the connection: of the body of a row that the index found, the few
/// words that show most of the query's phrases, or its beginning where none stands in it. It takes as long as the text
/// is; SQLite's own `snippet` compares each hit with each other, which takes minutes for a log of ten thousand lines.
void add_page_snippet(Connection& connection);

}  // namespace agw
