#pragma once

#include "storage/connection.hpp"

namespace agw {

/// Registers the SQL function `page_score(knowledge_words, weights)` on the connection. It scores a row that the
/// full-text index matched by BM25F: a word counts by the field that contains it, and each field's length is compared
/// with its own average. `weights` is a blob with a double for each phrase of the query, in order: how rare the phrase
/// is, or 0 if it does not count.
void add_page_score(Connection& connection);

}  // namespace agw
