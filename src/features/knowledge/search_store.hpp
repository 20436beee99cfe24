#pragma once

#include <string>
#include <vector>

#include "features/knowledge/search_terms.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"
#include "storage/tokenizer.hpp"

/// The SQL of the page search.
namespace agw::knowledge_search_store {

/// The terms of a search, and its scopes.
struct PageSearch {
  std::vector<SearchTerm> terms;
  TermsWanted wanted = TermsWanted::any;
  std::vector<std::string> scopes;  ///< empty: all
  std::size_t limit = 100;
};

/// The matching pages, best first.
std::vector<KnowledgeHit> search(Connection& connection, const PageSearch& search);

}  // namespace agw::knowledge_search_store

namespace agw {

/// Registers the SQL function `page_score(knowledge_words, weights)` on the connection. It scores a row that the
/// full-text index matched by BM25F: the field determines the weight of a word, and each field's length is compared
/// with its average. `weights` is a blob with a double for each phrase of the query, in order: the rarity of the
/// phrase, or 0 to ignore it.
void add_page_score(Connection& connection);

/// Registers the SQL function `page_snippet(knowledge_words)` on the connection. It returns the few words of a matched
/// row's body that show most of the query's phrases, or the body's beginning if it contains none. Takes linear time;
/// SQLite's `snippet` compares all hits with each other, which takes minutes for a log of ten thousand lines.
void add_page_snippet(Connection& connection);

/// A search term in terms of the index: adjacent words, the last of which may be a prefix (`open`), or a part of a
/// word.
struct PagePhrase {
  std::vector<std::string> words;
  bool open = false;
  bool is_part = false;
};

/// The snippet of a body whose words are known, for a database without the function `page_snippet`.
std::string snippet_of_page(std::string_view body, const std::vector<IndexedWord>& words,
                            const std::vector<PagePhrase>& phrases);

}  // namespace agw
