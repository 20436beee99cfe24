#include "features/knowledge/search_store.hpp"

#include <boost/algorithm/string.hpp>

#include "base/json.hpp"
#include "features/knowledge/page_text.hpp"

namespace agw::knowledge_search_store {

namespace {

constexpr std::size_t longest_snippet = 320;

std::string any_of(const std::vector<SearchTerm>& terms) {
  std::vector<std::string> queries;
  for (const auto& term : terms) queries.push_back(term.query);
  return boost::join(queries, " OR ");
}

}  // namespace

std::vector<KnowledgeHit> search(Connection& connection, const std::vector<SearchTerm>& terms,
                                 const std::vector<std::string>& scopes, std::size_t limit) {
  std::vector<KnowledgeHit> hits;
  if (terms.empty()) return hits;
  auto row = connection.prepare(
      "SELECT slug, knowledge_pages.title, snippet(knowledge_words, 3, '', '', '…', 32), "
      "-bm25(knowledge_words, 8.0, 4.0, 3.0, 1.0) AS score, scope FROM knowledge_words "
      "JOIN knowledge_pages ON number = knowledge_words.rowid WHERE knowledge_words MATCH :query "
      "AND (:scopes = '[]' OR scope IN (SELECT value FROM json_each(:scopes))) ORDER BY score DESC, slug LIMIT :limit");
  row.bind(":query", any_of(terms))
      .bind(":scopes", to_json(json::array(scopes.begin(), scopes.end())))
      .bind(":limit", limit);
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
