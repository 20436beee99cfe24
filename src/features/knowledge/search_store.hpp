#pragma once

#include <string>
#include <vector>

#include "features/knowledge/search_terms.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

/// The SQL of the page search.
namespace agw::knowledge_search_store {

/// What to search for, and in which scopes.
struct PageSearch {
  std::vector<SearchTerm> terms;
  TermsWanted wanted = TermsWanted::any;
  std::vector<std::string> scopes;  ///< empty: all
  std::size_t limit = 100;
};

/// The matching pages, best first.
std::vector<KnowledgeHit> search(Connection& connection, const PageSearch& search);

}  // namespace agw::knowledge_search_store
