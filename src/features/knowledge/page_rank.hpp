#pragma once

#include "storage/connection.hpp"

namespace agw {

/// Makes `page_score(knowledge_words, weights)` known to the connection. For a row that the index found it gives how
/// well it matches: BM25F, where a word counts by the field that it stands in, and each field is measured against its
/// own usual length. `weights` is a blob with a double for each phrase of the query, in the order in which they are
/// written: how rare the phrase is, or 0 for one that does not count.
void add_page_score(Connection& connection);

}  // namespace agw
