#include "features/knowledge/search_store.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <boost/algorithm/string.hpp>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/text/word_segmentation.hpp"
#include "features/knowledge/page_ranking.hpp"
#include "features/knowledge/page_store.hpp"
#include "features/knowledge/page_text.hpp"
#include "features/knowledge/word_search_store.hpp"
#include "storage/full_text_api.hpp"

namespace agw::knowledge_search_store {

namespace {

constexpr std::size_t max_snippet_length = 320;
constexpr std::string_view in_prominent_place = "{title summary} : ";

struct CountedTerm {
  std::string query;
  double weight = 1;
  std::size_t phrases = 1;  ///< the number of phrases in the query
  std::int64_t pages = 0;   ///< approximate number of pages with the term
};

std::int64_t count_pages(Connection& connection, const page_store::Extent& extent, const std::string& query) {
  auto row = connection.prepare(
      "SELECT count(*), coalesce(max(rowid), 0) FROM (SELECT rowid FROM knowledge_words WHERE knowledge_words MATCH "
      ":query ORDER BY rowid LIMIT :few)");
  row.bind(":query", query).bind(":few", max_counted_pages);
  const bool has_row = row.step();
  AGW_ASSERT(has_row);
  return approximate_matches(row.integer(0), row.integer(1), extent);
}

/// A word that may be part of longer words also matches the longer ones.
CountedTerm with_forms(Connection& connection, const SearchTerm& term) {
  const auto forms =
      term.part.empty() ? std::vector<std::string>() : words_with_part(connection, "knowledge_words", term.part);
  if (forms.empty()) return {term.query, term.weight};
  return {any_word(forms), term.weight, forms.size()};
}

std::string joined(const std::vector<CountedTerm>& terms, std::string_view operation) {
  std::vector<std::string> queries;
  queries.reserve(terms.size());
  for (const auto& term : terms) queries.push_back(term.query);
  return boost::join(queries, operation);
}

/// A query to the full-text index.
struct Query {
  std::string text;
  std::string weights;  ///< the weights of its phrases: see add_page_score
};

std::string bytes_of(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

/// Prepares a statement with `page_score` or `page_snippet`; registers both on the connection on first use.
Statement prepare_with_functions(Connection& connection, std::string_view sql) {
  try {
    return connection.prepare(sql);
  } catch (const DatabaseError&) {
    add_page_score(connection);
    add_page_snippet(connection);
    return connection.prepare(sql);
  }
}

class Ranking {
public:
  Ranking(Connection& connection, const PageSearch& search)
      : connection_(connection),
        search_(search),
        scopes_(to_json(json::array(search.scopes.begin(), search.scopes.end()))) {
    const auto extent = page_store::extent(connection);
    for (const auto& term : search.terms) {
      auto counted = with_forms(connection, term);
      counted.pages = count_pages(connection, extent, counted.query);
      has_unmatched_term_ = has_unmatched_term_ || counted.pages == 0;
      if (counted.pages == 0) continue;
      counted.weight *= rarity(counted.pages, extent.pages);
      terms_.push_back(std::move(counted));
    }
    std::ranges::sort(terms_, {}, [](const CountedTerm& term) { return std::tie(term.pages, term.query); });
  }

  std::vector<RankedPage> pages() {
    if (terms_.empty() || (search_.wanted == TermsWanted::all && has_unmatched_term_)) return {};
    if (search_.wanted == TermsWanted::all) return ranked(plain(" AND "));
    std::int64_t pages = 0;
    for (const auto& term : terms_) pages += term.pages;
    if (pages <= max_ranked_pages) return ranked(plain(" OR "));
    auto found = ranked(narrowed());
    return found.size() == search_.limit ? found : ranked(plain(" OR "));
  }

  /// Matches any of the terms.
  std::string any_term() const { return joined(terms_, " OR "); }

private:
  Query plain(std::string_view operation) const {
    std::vector<double> weights;
    weights.reserve(terms_.size());
    for (const auto& term : terms_) weights.insert(weights.end(), term.phrases, term.weight);
    return {joined(terms_, operation), bytes_of(weights)};
  }

  /// Selects the pages of the rarest terms, for as many terms as have few enough pages to rank all of them, and pages
  /// with other terms in a prominent field. All terms are repeated at the end, where they select no pages but count in
  /// the ranking.
  Query narrowed() const {
    std::vector<std::string> parts;
    std::vector<double> weights;
    std::int64_t pages = 0;
    for (const auto& term : terms_) {
      pages += term.pages;
      weights.insert(weights.end(), term.phrases, 0.0);
      parts.push_back(pages <= max_ranked_pages ? term.query : fmt::format("({}{})", in_prominent_place, term.query));
    }
    for (const auto& term : terms_) weights.insert(weights.end(), term.phrases, term.weight);
    return {fmt::format("({}) AND ({})", boost::join(parts, " OR "), any_term()), bytes_of(weights)};
  }

  std::vector<RankedPage> ranked(const Query& query) {
    std::vector<RankedPage> found;
    auto row = prepare_with_functions(
        connection_,
        "SELECT rowid, page_score(knowledge_words, :weights) FROM knowledge_words WHERE knowledge_words MATCH :query "
        "AND (:scopes = '[]' OR rowid IN (SELECT number FROM knowledge_pages WHERE scope IN (SELECT value FROM "
        "json_each(:scopes)))) ORDER BY rowid LIMIT :most");
    row.bind(":weights", query.weights)
        .bind(":query", query.text)
        .bind(":scopes", scopes_)
        .bind(":most", max_ranked_pages);
    while (row.step()) found.push_back({row.integer(0), row.real(1)});
    return best_pages(std::move(found), search_.limit);
  }

  Connection& connection_;
  const PageSearch& search_;
  std::string scopes_;
  std::vector<CountedTerm> terms_;  ///< terms with matches, rarest first
  bool has_unmatched_term_ = false;
};

KnowledgeHit shown(Connection& connection, const RankedPage& page, const std::string& query) {
  auto row = prepare_with_functions(
      connection,
      "SELECT slug, knowledge_pages.title, page_snippet(knowledge_words), scope FROM knowledge_words "
      "JOIN knowledge_pages ON number = knowledge_words.rowid "
      "WHERE knowledge_words MATCH :query AND knowledge_words.rowid = :number");
  row.bind(":query", query).bind(":number", page.number);
  if (!row.step()) return {};
  return {.slug = row.string(0),
          .title = row.string(1),
          .snippet = single_line(boost::erase_all_copy(row.string(2), std::string(word_break)), max_snippet_length),
          .score = page.score,
          .scope = row.string(3)};
}

}  // namespace

std::vector<KnowledgeHit> search(Connection& connection, const PageSearch& search) {
  if (connection.is_postgres()) return page_word_store::search(connection, search);
  Ranking ranking(connection, search);
  std::vector<KnowledgeHit> hits;
  for (const auto& page : ranking.pages()) hits.push_back(shown(connection, page, ranking.any_term()));
  return hits;
}

}  // namespace agw::knowledge_search_store
