#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "features/knowledge/page.hpp"
#include "features/knowledge/search_store.hpp"
#include "storage/connection.hpp"

/// The search index of pages in PostgreSQL (migrations/postgres/0110_knowledge.sql).
namespace agw::page_word_store {

/// Adds the words of a page to the index. Deleting its text removes them.
void put(Connection& connection, std::int64_t number, const IndexedPage& page);

/// Rebuilds the index from the texts.
void rebuild_index(Connection& connection);

/// See knowledge_search_store::search.
std::vector<KnowledgeHit> search(Connection& connection, const knowledge_search_store::PageSearch& search);

}  // namespace agw::page_word_store
