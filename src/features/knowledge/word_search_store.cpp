#include "features/knowledge/word_search_store.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/algorithm/string.hpp>

#include "base/async/assert.hpp"
#include "base/json/json.hpp"
#include "base/text/word_segmentation.hpp"
#include "features/knowledge/page_ranking.hpp"
#include "features/knowledge/page_store.hpp"
#include "features/knowledge/page_text.hpp"
#include "storage/tokenizer.hpp"
#include "storage/word_vector.hpp"

namespace agw::page_word_store {

namespace {

constexpr std::size_t max_snippet_length = 320;

struct Term {
  PagePhrase phrase;
  std::string query;
  double weight = 1;
  std::int64_t pages = 0;  ///< approximate number of pages with the term

  /// The query for pages with the term in the title or the summary.
  std::string prominent() const {
    if (phrase.is_part || phrase.words.size() > 1) return query;
    return query + (phrase.open ? "AB" : ":AB");
  }
};

Term term_of(const Tokenizer& tokenizer, const SearchTerm& wanted) {
  Term term{.phrase = {.words = {}, .open = wanted.query.ends_with('*'), .is_part = !wanted.part.empty()},
            .query = {},
            .weight = wanted.weight};
  for (auto& token : tokenizer.tokens(wanted.query)) term.phrase.words.push_back(std::move(token.word));
  if (term.phrase.words.empty()) return term;
  term.query =
      term.phrase.is_part ? part_query(term.phrase.words.front()) : phrase_query(term.phrase.words, term.phrase.open);
  return term;
}

std::int64_t count_pages(Connection& connection, const page_store::Extent& extent, const std::string& query) {
  if (query.empty()) return 0;
  auto row = connection.prepare(
      "SELECT count(*), coalesce(max(number), 0) FROM (SELECT number FROM knowledge_words WHERE words @@ CAST(:query "
      "AS tsquery) ORDER BY number LIMIT :few) AS first");
  row.bind(":query", query).bind(":few", max_counted_pages);
  const bool has_row = row.step();
  AGW_ASSERT(has_row);
  return approximate_matches(row.integer(0), row.integer(1), extent);
}

class WordRanking {
public:
  WordRanking(Connection& connection, const Tokenizer& tokenizer, const knowledge_search_store::PageSearch& search)
      : connection_(connection),
        search_(search),
        scopes_(to_json(json::array(search.scopes.begin(), search.scopes.end()))) {
    const auto extent = page_store::extent(connection);
    for (const auto& wanted : search.terms) {
      auto term = term_of(tokenizer, wanted);
      term.pages = count_pages(connection, extent, term.query);
      has_unmatched_term_ = has_unmatched_term_ || term.pages == 0;
      if (term.pages == 0) continue;
      term.weight *= rarity(term.pages, extent.pages);
      terms_.push_back(std::move(term));
    }
    std::ranges::sort(terms_, {}, [](const Term& term) { return std::tie(term.pages, term.query); });
  }

  std::vector<RankedPage> pages() {
    if (terms_.empty() || (search_.wanted == TermsWanted::all && has_unmatched_term_)) return {};
    if (search_.wanted == TermsWanted::all) return ranked(joined(" & "));
    std::int64_t pages = 0;
    for (const auto& term : terms_) pages += term.pages;
    if (pages <= max_ranked_pages) return ranked(joined(" | "));
    auto found = ranked(narrowed());
    return found.size() == search_.limit ? found : ranked(joined(" | "));
  }

  std::vector<PagePhrase> phrases() const {
    std::vector<PagePhrase> found;
    found.reserve(terms_.size());
    for (const auto& term : terms_) found.push_back(term.phrase);
    return found;
  }

private:
  std::string joined(std::string_view operation) const {
    std::vector<std::string_view> queries;
    queries.reserve(terms_.size());
    for (const auto& term : terms_) queries.push_back(term.query);
    return fmt::format("{}", fmt::join(queries, operation));
  }

  /// Selects the pages of the rarest terms, for as many terms as have few enough pages to rank all of them, and pages
  /// with other terms in a prominent field.
  std::string narrowed() const {
    std::vector<std::string> parts;
    parts.reserve(terms_.size());
    std::int64_t pages = 0;
    for (const auto& term : terms_) {
      pages += term.pages;
      parts.push_back(pages <= max_ranked_pages ? term.query : term.prominent());
    }
    return fmt::format("{}", fmt::join(parts, " | "));
  }

  std::vector<RankedPage> ranked(const std::string& query) {
    std::vector<double> weights;
    weights.reserve(terms_.size());
    for (const auto& term : terms_) weights.push_back(term.weight);
    std::vector<RankedPage> found;
    auto row = connection_.prepare(
        "SELECT knowledge_words.number, (SELECT sum(weight * ts_rank(CAST('{0.05, 0.05, 1, 1}' AS REAL[]), "
        "knowledge_words.words, CAST(term AS tsquery), 1)) FROM unnest(string_to_array(:terms, chr(10)), "
        "CAST(string_to_array(:weights, ' ') AS DOUBLE PRECISION[])) AS wanted (term, weight)) FROM knowledge_words "
        "JOIN knowledge_pages ON knowledge_pages.number = knowledge_words.number WHERE knowledge_words.words @@ "
        "CAST(:query AS tsquery) AND (:scopes = '[]' OR scope IN (SELECT json_array_elements_text(CAST(:scopes AS "
        "json)))) ORDER BY knowledge_words.number LIMIT :most");
    row.bind(":terms", joined("\n"))
        .bind(":weights", fmt::format("{}", fmt::join(weights, " ")))
        .bind(":query", query)
        .bind(":scopes", scopes_)
        .bind(":most", max_ranked_pages);
    while (row.step()) found.push_back({row.integer(0), row.real(1)});
    return best_pages(std::move(found), search_.limit);
  }

  Connection& connection_;
  const knowledge_search_store::PageSearch& search_;
  std::string scopes_;
  std::vector<Term> terms_;  ///< terms with matches, rarest first
  bool has_unmatched_term_ = false;
};

KnowledgeHit shown(Connection& connection, const Tokenizer& tokenizer, const RankedPage& page,
                   const std::vector<PagePhrase>& phrases) {
  auto row = connection.prepare(
      "SELECT slug, knowledge_pages.title, body, scope FROM knowledge_pages JOIN knowledge_texts ON "
      "knowledge_texts.number = knowledge_pages.number WHERE knowledge_pages.number = :number");
  row.bind(":number", page.number);
  if (!row.step()) return {};
  const auto body = row.text(2);
  const auto snippet = snippet_of_page(body, tokenizer.tokens(body), phrases);
  return {.slug = row.string(0),
          .title = row.string(1),
          .snippet = single_line(boost::erase_all_copy(snippet, std::string(word_break)), max_snippet_length),
          .score = page.score,
          .scope = row.string(3)};
}

void add_field(WordVector& words, const Tokenizer& tokenizer, std::string_view text, char weight) {
  const auto tokens = tokenizer.tokens(text);
  std::vector<std::string_view> field;
  field.reserve(tokens.size());
  for (const auto& token : tokens) field.emplace_back(token.word);
  words.add_field(field, weight);
}

}  // namespace

void put(Connection& connection, std::int64_t number, const IndexedPage& page) {
  const Tokenizer tokenizer(connection, Tokenizer::Words::stemmed);
  WordVector words;
  add_field(words, tokenizer, page.title, 'A');
  add_field(words, tokenizer, page.summary, 'B');
  add_field(words, tokenizer, page.headings, 'C');
  add_field(words, tokenizer, page.body, 'D');
  connection.prepare("INSERT INTO knowledge_words (number, words) VALUES (:number, CAST(:words AS tsvector))")
      .bind(":number", number)
      .bind(":words", words.text())
      .run();
}

void rebuild_index(Connection& connection) {
  connection.execute("DELETE FROM knowledge_words");
  auto row = connection.prepare("SELECT number, title, headings, summary, body FROM knowledge_texts ORDER BY number");
  while (row.step()) {
    const IndexedPage page{
        .title = row.string(1), .summary = row.string(3), .headings = row.string(2), .body = row.string(4)};
    put(connection, row.integer(0), page);
  }
}

std::vector<KnowledgeHit> search(Connection& connection, const knowledge_search_store::PageSearch& search) {
  const Tokenizer tokenizer(connection, Tokenizer::Words::stemmed);
  WordRanking ranking(connection, tokenizer, search);
  const auto phrases = ranking.phrases();
  std::vector<KnowledgeHit> hits;
  for (const auto& page : ranking.pages()) hits.push_back(shown(connection, tokenizer, page, phrases));
  return hits;
}

}  // namespace agw::page_word_store
