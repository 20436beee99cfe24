#pragma once

#include <string>
#include <vector>

#include "features/knowledge/search_terms.hpp"
#include "features/knowledge/types.hpp"
#include "storage/connection.hpp"

/// The SQL of the search for pages.
namespace agw::knowledge_search_store {

/// The pages that have any of the terms, best first. `scopes` narrows it; empty for all.
std::vector<KnowledgeHit> search(Connection& connection, const std::vector<SearchTerm>& terms,
                                 const std::vector<std::string>& scopes, std::size_t limit);

}  // namespace agw::knowledge_search_store
