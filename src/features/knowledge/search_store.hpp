#pragma once

#include <string>
#include <vector>

#include "features/knowledge/search_terms.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

/// The SQL of the search for pages.
namespace agw::knowledge_search_store {

/// What to look for, and where.
struct PageSearch {
  std::vector<SearchTerm> terms;
  TermsWanted wanted = TermsWanted::any;
  std::vector<std::string> scopes;  ///< none: all
  std::size_t limit = 100;
};

/// The pages that match, best first.
std::vector<KnowledgeHit> search(Connection& connection, const PageSearch& search);

}  // namespace agw::knowledge_search_store
