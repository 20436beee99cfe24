// How a search of turns finds the best matches quickly. docs/design/search.md has an example.
//
// The *index* contains the turns up to a mark (search_indexer.cpp); newer ones are read as text. A term is
// *common* if more than 2 % of the turns contain it. A *plan* is a query of the index plus a *rest*: the part of the
// search query that is checked in the text of the turns found. The *scope* is the agent's threads, or one thread.
//
// The invariant: every result matches the whole search query and is in the scope, no matter which plan found it.
//
//   1. Estimate how many turns contain each term; for a phrase, how many contain its rarest word.
//   2. If the index is large, query it only for the parts with rare words, and check the rest in the turns found.
//      Intersecting the long list of a common word costs more than reading the few turns that a rare word leaves.
//   3. If that filled the list of results, or certainly found all matches, the search is done. Otherwise query the
//      index for the whole query: the rest has rejected so many turns that the common words do narrow the search down.
//   4. In both cases: take the newest 500 matches of the plan (200 if all terms are common), add as many from the turns
//      above the mark (unindexed_words.hpp), rank them by BM25, and take the best until the list is full.
//
// Why no match is lost: the query of a plan omits only parts of an AND, or the excluded part of a NOT. So its matches
// include all matches of the search query; `show` removes the others. A plan that found fewer turns than its limit has
// seen all of them. Turns above the mark are checked in the same snapshot, so none is missed between index and text.

#include "features/threads/search.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "features/threads/search_query.hpp"
#include "features/threads/search_store.hpp"
#include "features/threads/thread_store.hpp"
#include "features/threads/turn_store.hpp"
#include "features/threads/unindexed_words.hpp"
#include "features/threads/word_search_store.hpp"
#include "storage/full_text_api.hpp"
#include "storage/word_vector.hpp"

namespace agw {

namespace {

using Node = SearchQuery::Node;
using search_store::Scope;

/// A term is common if more than this fraction of all turns match. Intersecting its list with others is slower than
/// searching for it in the turns that the others find.
constexpr double common_part = 0.02;
/// The index merges the lists of all words with the prefix; shorter prefixes have too many words.
constexpr std::size_t long_prefix = 4;
/// How much of a long turn is read for its snippet.
constexpr std::size_t max_bytes_shown = 64 * 1024;
static_assert(max_bytes_shown <= search_store::max_bytes_indexed);
static_assert(max_common_candidates <= max_candidates);

/// A query of the index, and conditions that are checked on the turns found.
struct Plan {
  std::string query;
  bool scoped = true;                ///< the query's first phrases are the words of the scope
  std::vector<std::size_t> phrases;  ///< the term of each further phrase
  std::optional<Node> rest;
};

struct Hit {
  std::int64_t number = 0;
  std::uint32_t length = 0;         ///< of the turn, in words
  std::vector<std::uint32_t> hits;  ///< of each term
  bool sure = false;                ///< known to match the whole query
  double score = 0;
};

/// The query in the syntax of the index. Words have only letters and digits, so quotes make them safe.
std::string compile(const Node& node, const std::vector<SearchQuery::Term>& terms, std::vector<std::size_t>& phrases) {
  if (node.kind == Node::Kind::term) {
    const auto& term = terms[node.term];
    if (term.is_part) {
      phrases.insert(phrases.end(), term.forms.size(), node.term);
      return any_word(term.forms);
    }
    phrases.push_back(node.term);
    return fmt::format("\"{}\"{}", fmt::join(term.words, " "), term.prefix ? " *" : "");
  }
  std::vector<std::string> parts;
  parts.reserve(node.parts.size());
  for (const auto& part : node.parts) parts.push_back(compile(part, terms, phrases));
  if (node.kind == Node::Kind::all) return fmt::format("({})", fmt::join(parts, " AND "));
  if (node.kind == Node::Kind::any) return fmt::format("({})", fmt::join(parts, " OR "));
  return fmt::format("({} NOT ({}))", parts.front(), fmt::join(parts.begin() + 1, parts.end(), " OR "));
}

/// The words that a matching text must contain, in PostgreSQL's syntax.
std::string words_of(const Node& node, const std::vector<SearchQuery::Term>& terms) {
  std::vector<std::string> parts;
  if (node.kind == Node::Kind::term) {
    const auto& term = terms[node.term];
    if (term.is_part) return part_query(term.words.front());
    for (const auto& word : term.words) parts.push_back(word_query(word, term.prefix && &word == &term.words.back()));
    return fmt::format("({})", fmt::join(parts, " & "));
  }
  if (node.kind == Node::Kind::without) return words_of(node.parts.front(), terms);
  for (const auto& part : node.parts) parts.push_back(words_of(part, terms));
  return fmt::format("({})", fmt::join(parts, node.kind == Node::Kind::all ? " & " : " | "));
}

bool is_of(const Scope& scope, const Thread& thread) { return contains(scope.agent_ids, thread.agent_id); }

class Search {
public:
  Search(Connection& connection, SearchQuery query, Scope scope, std::size_t limit, const UnindexedWords& unindexed)
      : connection_(connection),
        tokenizer_(connection),
        query_(std::move(query)),
        scope_(std::move(scope)),
        threads_(connection, scope_),
        limit_(limit),
        unindexed_(unindexed),
        indexed_(connection.is_postgres() ? 0 : search_store::indexed(connection)) {
    query_.fold(tokenizer_);
    if (!connection.is_postgres())
      query_.find_forms([&](const std::string& word) { return search_store::words_with(connection_, word); });
  }

  std::vector<FoundTurn> run() {
    if (!query_.root()) return {};
    if (connection_.is_postgres()) return checked_results();
    estimate_frequencies();
    if (indexed_ >= large_index) {
      const auto plan = quick_plan();
      bool all_seen = false;
      auto found = results(plan, all_seen);
      if (all_seen || found.size() == limit_) return found;
    }
    bool all_seen = false;
    return results(plan_for(*query_.root(), std::nullopt, true), all_seen);
  }

private:
  /// With PostgreSQL, every turn that the index finds is checked against its text.
  std::vector<FoundTurn> checked_results() {
    std::vector<Hit> hits;
    const auto wanted = std::max(max_candidates, limit_);
    const auto query = words_of(*query_.root(), query_.terms());
    frequencies_.assign(query_.terms().size(), 0);
    word_search_store::candidates(connection_, scope_, fmt::format("({}) | {}", query, long_query()),
                                  [&](std::int64_t number, std::string_view content) {
                                    ++indexed_;
                                    if (auto hit = checked(number, search_store::indexed_text(content)))
                                      hits.push_back(std::move(*hit));
                                    return hits.size() < wanted;
                                  });
    for (const auto& hit : hits) {
      for (std::size_t i = 0; i < hit.hits.size(); ++i) frequencies_[i] += hit.hits[i] > 0 ? 1 : 0;
    }
    rank(hits);
    return shown(hits, Plan{});
  }

  /// No value if the text does not match the whole query.
  std::optional<Hit> checked(std::int64_t number, std::string_view text) const {
    if (!query_.may_match(text)) return std::nullopt;
    const auto tokens = tokenizer_.tokens(text);
    auto counts = query_.hits(tokens);
    if (!SearchQuery::matches(*query_.root(), counts)) return std::nullopt;
    return Hit{number, static_cast<std::uint32_t>(tokens.size()), std::move(counts), true};
  }

  void estimate_frequencies() {
    AGW_ASSERT(frequencies_.empty());
    scope_frequency_ = search_store::frequency(connection_, scope_query());
    for (const auto& term : query_.terms()) {
      if (term.is_part) {
        frequencies_.push_back(search_store::frequency(connection_, "body : " + any_word(term.forms)));
        continue;
      }
      auto rarest = static_cast<double>(indexed_);
      for (const auto& word : term.words) {
        const bool open = term.prefix && &word == &term.words.back();
        if (open && word.size() < long_prefix) continue;
        const auto query = fmt::format("body : \"{}\"{}", word, open ? " *" : "");
        rarest = std::min(rarest, search_store::frequency(connection_, query));
      }
      frequencies_.push_back(rarest);
    }
  }

  std::string scope_query() const { return fmt::format("scope : (\"{}\")", fmt::join(scope_.words(), "\" OR \"")); }

  bool is_common(double frequency) const { return frequency > common_part * static_cast<double>(indexed_); }

  /// Whether the index finds the part quickly: by following the list of a rare word, without merging lists first.
  bool is_quick(const Node& node) const {
    const auto quick = [this](const Node& part) { return is_quick(part); };
    switch (node.kind) {
      case Node::Kind::term:
        return !is_common(frequencies_[node.term]) && !has_short_prefix(node);
      case Node::Kind::any:
        return std::ranges::all_of(node.parts, quick);
      case Node::Kind::all:
      case Node::Kind::without:
        return quick(node.parts.front()) && !has_short_prefix(node);
    }
    return false;
  }

  bool has_short_prefix(const Node& node) const {
    if (node.kind == Node::Kind::term) {
      const auto& term = query_.terms()[node.term];
      return term.prefix && term.words.back().size() < long_prefix;
    }
    return std::ranges::any_of(node.parts, [this](const Node& part) { return has_short_prefix(part); });
  }

  /// A plan that queries the index for the parts that it finds quickly; if there are none, for one of the others, or
  /// for the scope alone.
  Plan quick_plan() const {
    Node asked{Node::Kind::all, 0, {}};
    Node rest{Node::Kind::all, 0, {}};
    const auto& root = *query_.root();
    for (const auto& part : root.kind == Node::Kind::all ? root.parts : std::vector{root}) {
      const bool cut = part.kind == Node::Kind::without && is_quick(part.parts.front());
      if (cut) asked.parts.push_back(part.parts.front());
      (is_quick(part) && !cut ? asked : rest).parts.push_back(part);
    }
    const bool quick = !asked.parts.empty();
    if (!quick) {
      const auto first = std::ranges::find_if(rest.parts, [this](const Node& part) { return !has_short_prefix(part); });
      if (first != rest.parts.end()) {
        asked.parts.push_back(*first);
        rest.parts.erase(first);
      }
    }
    return plan_for(asked, rest.parts.empty() ? std::nullopt : std::optional(rest),
                    !quick || !is_common(scope_frequency_));
  }

  Plan plan_for(const Node& asked, std::optional<Node> rest, bool scoped) const {
    Plan plan{scoped ? scope_query() : "", scoped, {}, std::move(rest)};
    if (asked.kind == Node::Kind::term || !asked.parts.empty()) {
      if (scoped) plan.query += " AND ";
      plan.query += "body : (" + compile(asked, query_.terms(), plan.phrases) + ")";
    }
    return plan;
  }

  /// Sets `all_seen` if the result is certainly complete.
  std::vector<FoundTurn> results(const Plan& plan, bool& all_seen) {
    AGW_CHECK(!plan.query.empty(), "a search for nothing");
    const auto limit = candidates(plan);
    auto hits = indexed_hits(plan, limit);
    all_seen = hits.size() < limit;
    add_unindexed_hits(plan, limit, hits);
    rank(hits);
    return shown(hits, plan);
  }

  std::vector<FoundTurn> shown(const std::vector<Hit>& hits, const Plan& plan) {
    std::vector<FoundTurn> found;
    for (const auto& hit : hits) {
      if (found.size() == limit_) break;
      if (auto turn = show(hit, plan)) found.push_back(std::move(*turn));
    }
    return found;
  }

  /// How many of the newest matches are ranked, at least the wanted number. Fewer if all terms are common: then words
  /// hardly distinguish turns, and finding more is slowest.
  std::size_t candidates(const Plan& plan) const {
    const auto common = [this](std::size_t term) { return is_common(frequencies_[term]); };
    const bool all_common = !plan.phrases.empty() && std::ranges::all_of(plan.phrases, common);
    const bool few = indexed_ >= large_index && all_common && !plan.rest;
    return std::max(few ? max_common_candidates : max_candidates, limit_);
  }

  std::vector<Hit> indexed_hits(const Plan& plan, std::size_t limit) {
    std::vector<Hit> hits;
    for (const auto& candidate : search_store::newest(connection_, plan.query, limit)) {
      Hit hit{candidate.number, candidate.hits.at(0), std::vector<std::uint32_t>(query_.terms().size()), !plan.rest};
      const std::size_t first = 1 + (plan.scoped ? scope_.words().size() : 0);
      // The index counts the phrases in the order in which `compile` has written them.
      AGW_DEBUG_ASSERT(candidate.hits.size() == first + plan.phrases.size());
      for (std::size_t i = 0; i < plan.phrases.size(); ++i) hit.hits[plan.phrases[i]] += candidate.hits.at(first + i);
      hits.push_back(std::move(hit));
    }
    return hits;
  }

  /// Adds the newest turns above the mark that match, at most `limit`.
  void add_unindexed_hits(const Plan& plan, std::size_t limit, std::vector<Hit>& hits) {
    limit += hits.size();
    const auto add = [&](std::int64_t number, std::int64_t thread, std::string_view content) {
      auto hit = checked(number, content);
      if (!hit || !threads_.contains(thread)) return true;
      // Scored by the same terms as the indexed ones.
      std::vector<std::uint32_t> counts(hit->hits.size());
      for (const auto term : plan.phrases) counts[term] = hit->hits[term];
      hit->hits = std::move(counts);
      hits.push_back(std::move(*hit));
      return hits.size() < limit;
    };
    const auto places = unindexed_.places(query_, indexed_);
    if (scope_.thread) return search_store::read_thread(connection_, *scope_.thread, places, add);
    std::ranges::all_of(places, [&](const auto& numbers) { return search_store::read(connection_, numbers, add); });
  }

  void rank(std::vector<Hit>& hits) const {
    AGW_ASSERT(frequencies_.size() == query_.terms().size());
    double words = 0;
    for (const auto& hit : hits) words += hit.length;
    const double average = std::max(1.0, words / static_cast<double>(std::max<std::size_t>(1, hits.size())));
    for (auto& hit : hits) hit.score = score(hit, average);
    std::ranges::sort(
        hits, [](const Hit& a, const Hit& b) { return a.score != b.score ? a.score > b.score : a.number > b.number; });
  }

  /// BM25 with the usual constants.
  double score(const Hit& hit, double average) const {
    AGW_ASSERT(hit.hits.size() == frequencies_.size());
    double sum = 0;
    const double length = 1.2 * (0.25 + 0.75 * hit.length / average);
    for (std::size_t i = 0; i < hit.hits.size(); ++i) {
      const auto turns = static_cast<double>(std::max<std::int64_t>(indexed_, 1));
      const double rarity = std::log(1 + turns / (1 + frequencies_[i]));
      sum += rarity * hit.hits[i] * 2.2 / (hit.hits[i] + length);
    }
    return sum;
  }

  /// No value if the turn's thread was deleted, or the turn does not match the rest of the query.
  std::optional<FoundTurn> show(const Hit& hit, const Plan& plan) {
    auto stored = turn_store::find(connection_, hit.number);
    if (!stored || (!plan.scoped && !threads_.contains(stored->thread))) return std::nullopt;
    const auto text = search_store::indexed_text(stored->turn.content);
    AGW_ASSERT(hit.sure || plan.rest);
    if (!hit.sure && !SearchQuery::matches(*plan.rest, query_.hits(tokenizer_.tokens(text)))) return std::nullopt;
    const auto shown = text.substr(0, max_bytes_shown);
    auto snippet = snippet_of(shown, tokenizer_.tokens(shown), query_);
    return FoundTurn{std::move(stored->turn), std::move(snippet)};
  }

  Connection& connection_;
  Tokenizer tokenizer_;
  SearchQuery query_;
  Scope scope_;
  search_store::ScopedThreads threads_;
  std::size_t limit_;
  const UnindexedWords& unindexed_;
  std::int64_t indexed_;
  /// Estimated numbers of turns: in the scope, and for each term those with its rarest word.
  double scope_frequency_ = 0;
  std::vector<double> frequencies_;
};

}  // namespace

std::vector<FoundTurn> search_turns(Connection& connection, const TurnSearch& wanted, const UnindexedWords& unindexed) {
  Scope scope{thread_store::agent_ids(connection, wanted.agent_id, wanted.agent_name), std::nullopt};
  if (wanted.thread_id) {
    const auto thread = thread_store::find(connection, *wanted.thread_id);
    if (!thread || !is_of(scope, thread->thread)) return {};
    scope.thread = thread->number;
  }
  const auto limit = static_cast<std::size_t>(wanted.limit.value);
  return Search(connection, SearchQuery(wanted.q), std::move(scope), limit, unindexed).run();
}

}  // namespace agw
