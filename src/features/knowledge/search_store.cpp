#include "features/knowledge/search_store.hpp"

#include <boost/algorithm/string.hpp>

#include "base/json.hpp"
#include "features/knowledge/page_text.hpp"

namespace agw::knowledge_search_store {

namespace {

constexpr std::size_t longest_snippet = 320;

std::string query_of(const PageSearch& search) {
  std::vector<std::string> queries;
  for (const auto& term : search.terms) queries.push_back(term.query);
  return boost::join(queries, search.wanted == TermsWanted::all ? " AND " : " OR ");
}

}  // namespace

std::vector<KnowledgeHit> search(Connection& connection, const PageSearch& search) {
  std::vector<KnowledgeHit> hits;
  if (search.terms.empty()) return hits;
  auto row = connection.prepare(
      "SELECT slug, knowledge_pages.title, snippet(knowledge_words, 3, '', '', '…', 32), "
      "-bm25(knowledge_words, 8.0, 4.0, 3.0, 1.0) AS score, scope FROM knowledge_words "
      "JOIN knowledge_pages ON number = knowledge_words.rowid WHERE knowledge_words MATCH :query "
      "AND (:scopes = '[]' OR scope IN (SELECT value FROM json_each(:scopes))) ORDER BY score DESC, slug LIMIT :limit");
  row.bind(":query", query_of(search))
      .bind(":scopes", to_json(json::array(search.scopes.begin(), search.scopes.end())))
      .bind(":limit", search.limit);
  while (row.step()) {
    hits.push_back({.slug = row.string(0),
                    .title = row.string(1),
                    .snippet = single_line(row.text(2), longest_snippet),
                    .score = row.real(3),
                    .scope = row.string(4)});
  }
  return hits;
}

}  // namespace agw::knowledge_search_store
