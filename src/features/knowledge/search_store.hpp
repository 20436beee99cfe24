#pragma once

#include <string>
#include <vector>

#include "features/knowledge/search_terms.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

struct fts5_api;  // NOLINT(readability-identifier-naming): named by SQLite

/// The SQL of the search for pages.
namespace agw::knowledge_search_store {

struct PageSearch {
  std::vector<SearchTerm> terms;
  TermsWanted wanted = TermsWanted::any;
  std::vector<std::string> scopes;  ///< none: all
  std::size_t limit = 100;
};

/// The library's own interface to its full-text search.
fts5_api* full_text_api(Connection& connection);

/// The pages that match, best first.
std::vector<KnowledgeHit> search(Connection& connection, const PageSearch& search);

}  // namespace agw::knowledge_search_store
