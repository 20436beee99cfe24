// Turns the text that a person typed into a query of the index. docs/design/search.md has an example.
//
// A *term* is a word or a quoted phrase. A *node* is a term, or an operator with its parts. A *form* is a word of the
// index that contains a term. Terms in Chinese, Japanese and similar scripts have forms, because the index treats a
// whole sentence in these scripts as one word.
//
// The invariants: every text is a query, and the two ways to evaluate it agree, namely the query that search.cpp
// compiles for the index, and `hits` with `matches` for a text that is not indexed yet. Only the limits of step 5 apply
// to the index alone.
//
//   1. The scanner divides the text into terms, operators and parentheses. Operators are in capitals.
//   2. The parser builds the tree. Operators that bind tighter are further down:
//
//        any        = all { OR all }
//        all        = without { AND [ NOT ] without }
//        without    = neighbours { NOT neighbours }
//        neighbours = one { one }
//        one        = term | ( any )
//
//   3. If that fails, or the tree nests deeper than six parentheses or has over 64 terms, the query is the plain words
//      of the text, all of which must match. Operators are then omitted, unless the text has nothing else.
//   4. `fold` divides each term into words as the index's tokenizer does, and removes terms without words, such as
//   `+++`.
//   5. `find_forms` looks up the forms, for at most eight terms and at most a hundred for each.

#include "features/threads/search_query.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/async/assert.hpp"
#include "base/text/ascii.hpp"
#include "base/text/word_segmentation.hpp"
#include "storage/full_text_api.hpp"

namespace agw {

namespace {

using Node = SearchQuery::Node;
using Term = SearchQuery::Term;

/// The stack of SQLite's query parser is small.
constexpr int max_depth = 6;
constexpr std::string_view query_whitespace(" \t\r\n\v\f\0", 7);
constexpr std::string_view ends_of_words(" \t\r\n\v\f\0\"()", 10);

struct Item {
  enum class Kind { term, and_, or_, not_, open, close, broken };
  Kind kind = Kind::term;
  Term term;
};

/// Splits the input; a quote without an end makes it `broken`, but its words are kept.
class Scanner {
public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::vector<Item> items() {
    std::vector<Item> found;
    while (skip_blanks()) found.push_back(next());
    return found;
  }

private:
  bool skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(query_whitespace), rest_.size()));
    return !rest_.empty();
  }

  Item next() {
    if (take('(')) return {Item::Kind::open, {}};
    if (take(')')) return {Item::Kind::close, {}};
    return take('"') ? phrase() : word();
  }

  Item phrase() {
    const auto end = rest_.find('"');
    if (end == rest_.npos) return {Item::Kind::broken, {std::string(take_bytes(rest_.size()))}};
    Item item{Item::Kind::term, {std::string(take_bytes(end))}};
    take('"');
    item.term.prefix = take_stars();
    return item;
  }

  /// In `これはPython入門`, `これは` is a separate term. The index may contain it only as the end of a longer word.
  Item word() {
    const auto end = std::min(rest_.find_first_of(ends_of_words), rest_.size());
    const auto first = rest_.substr(0, script_run_length(rest_.substr(0, end)));
    const bool continues = std::exchange(is_cut_, first.size() < end && has_unsegmented_script(first));
    if (is_cut_) return {Item::Kind::term, {.text = std::string(take_bytes(first.size())), .is_loose = true}};
    auto text = take_bytes(end);
    if (!continues) {
      if (text == "AND") return {Item::Kind::and_, {std::string(text)}};
      if (text == "OR") return {Item::Kind::or_, {std::string(text)}};
      if (text == "NOT") return {Item::Kind::not_, {std::string(text)}};
    }
    const auto stem = text.substr(0, text.find_last_not_of('*') + 1);
    return {Item::Kind::term, {std::string(stem), stem.size() < text.size()}};
  }

  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_stars() {
    bool any = false;
    while (take('*')) any = true;
    return any;
  }

  std::string_view take_bytes(std::size_t count) {
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool is_cut_ = false;  ///< the next item continues a word
};

/// Builds the tree of a valid query; no value for an invalid one. Each function parses operators that bind tighter than
/// those of the function before.
class Parser {
public:
  Parser(const std::vector<Item>& items, std::vector<Term>& terms) : items_(items), terms_(terms) {}

  std::optional<Node> query() {
    auto node = any();
    if (place_ < items_.size()) return std::nullopt;
    AGW_ASSERT(!node || depth_ == 0);
    return node;
  }

private:
  std::optional<Node> any() {
    auto first = all();
    while (first && take(Item::Kind::or_)) {
      if (!join(*first, Node::Kind::any, all())) return std::nullopt;
    }
    return first;
  }

  std::optional<Node> all() {
    auto first = without();
    while (first && take(Item::Kind::and_)) {
      const auto kind = take(Item::Kind::not_) ? Node::Kind::without : Node::Kind::all;
      if (!join(*first, kind, without())) return std::nullopt;
    }
    return first;
  }

  std::optional<Node> without() {
    auto first = neighbours();
    while (first && take(Item::Kind::not_)) {
      if (!join(*first, Node::Kind::without, neighbours())) return std::nullopt;
    }
    return first;
  }

  std::optional<Node> neighbours() {
    auto first = one();
    while (first && (next_is(Item::Kind::term) || next_is(Item::Kind::open))) {
      if (!join(*first, Node::Kind::all, one())) return std::nullopt;
    }
    return first;
  }

  std::optional<Node> one() {
    if (next_is(Item::Kind::term)) {
      terms_.push_back(items_[place_++].term);
      return Node{Node::Kind::term, terms_.size() - 1, {}};
    }
    if (!take(Item::Kind::open) || ++depth_ > max_depth) return std::nullopt;
    auto inner = any();
    --depth_;
    if (!take(Item::Kind::close)) return std::nullopt;
    return inner;
  }

  /// Adds `more` to `first`, as another part if `first` is already of that kind.
  bool join(Node& first, Node::Kind kind, std::optional<Node> more) {
    AGW_ASSERT(kind != Node::Kind::term);
    if (!more) return false;
    if (first.kind != kind) {
      Node joined{kind, 0, {}};
      joined.parts.push_back(std::move(first));
      first = std::move(joined);
    }
    first.parts.push_back(std::move(*more));
    return true;
  }

  bool next_is(Item::Kind kind) const { return place_ < items_.size() && items_[place_].kind == kind; }
  bool take(Item::Kind kind) {
    if (!next_is(kind)) return false;
    ++place_;
    return true;
  }

  const std::vector<Item>& items_;
  std::vector<Term>& terms_;
  std::size_t place_ = 0;
  int depth_ = 0;
};

/// Every word as a separate term; operators only if there is nothing else.
std::vector<Term> plain_words(const std::vector<Item>& items) {
  std::vector<Term> words;
  std::vector<Term> operators;
  for (const auto& item : items) {
    const bool is_text = item.kind == Item::Kind::term || item.kind == Item::Kind::broken;
    std::string_view rest = item.term.text;
    while (!rest.empty()) {
      const auto end = std::min(rest.find_first_of(query_whitespace), rest.size());
      if (end > 0) (is_text ? words : operators).push_back({std::string(rest.substr(0, end))});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  auto& wanted = words.empty() ? operators : words;
  if (wanted.size() > SearchQuery::max_terms) wanted.resize(SearchQuery::max_terms);
  return wanted;
}

Node all_of(std::size_t count) {
  Node node{Node::Kind::all, 0, {}};
  for (std::size_t i = 0; i < count; ++i) node.parts.push_back({Node::Kind::term, i, {}});
  return node;
}

/// The node without terms that have no words; no value if nothing is left.
std::optional<Node> pruned(Node node, const std::vector<Term>& terms) {
  if (node.kind == Node::Kind::term) {
    if (terms[node.term].words.empty()) return std::nullopt;
    return node;
  }
  std::vector<Node> parts;
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    auto part = pruned(std::move(node.parts[i]), terms);
    if (part) parts.push_back(std::move(*part));
    // Without a first part, NOT has nothing to exclude from.
    if (i == 0 && !part && node.kind == Node::Kind::without) return std::nullopt;
  }
  if (parts.empty()) return std::nullopt;
  if (parts.size() == 1) return std::move(parts.front());
  node.parts = std::move(parts);
  return node;
}

bool may_match(const Node& node, const std::function<bool(std::size_t term)>& may_occur) {
  const auto may = [&](const Node& part) { return may_match(part, may_occur); };
  switch (node.kind) {
    case Node::Kind::term:
      return may_occur(node.term);
    case Node::Kind::all:
      return std::ranges::all_of(node.parts, may);
    case Node::Kind::any:
      return std::ranges::any_of(node.parts, may);
    case Node::Kind::without:
      return may(node.parts.front());
  }
  return true;
}

}  // namespace

SearchQuery::SearchQuery(std::string_view text) {
  const auto items = Scanner(text).items();
  root_ = Parser(items, terms_).query();
  if (root_ && terms_.size() <= max_terms) return;
  terms_ = plain_words(items);
  root_ = all_of(terms_.size());
  AGW_ASSERT(terms_.size() <= max_terms);
}

void SearchQuery::fold(const Tokenizer& tokenizer) {
  int parts = 0;
  for (auto& term : terms_) {
    term.words.clear();
    for (auto& token : tokenizer.tokens(term.text)) term.words.push_back(std::move(token.word));
    term.is_part =
        parts < max_unsegmented_terms && term.words.size() == 1 && has_unsegmented_script(term.words.front());
    if (term.words.size() > 1 && has_unsegmented_script(term.words.back())) term.prefix = true;
    if (!term.is_part) continue;
    term.prefix = false;
    ++parts;
  }
  if (root_) root_ = pruned(std::move(*root_), terms_);
}

void SearchQuery::find_forms(const std::function<std::vector<std::string>(const std::string& word)>& words_with) {
  for (auto& term : terms_) {
    if (!term.is_part) continue;
    term.forms = words_with(term.words.front());
    if (term.forms.empty()) term.forms = term.words;
    if (term.is_loose && term.forms.size() == max_words_with_part) term.words.clear();
  }
  if (root_) root_ = pruned(std::move(*root_), terms_);
}

std::vector<std::uint32_t> SearchQuery::hits(const std::vector<IndexedWord>& text) const {
  std::vector<std::uint32_t> counts(terms_.size());
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    for (std::size_t n = 0; n < text.size(); ++n) counts[i] += occurs_at(terms_[i], text, n) ? 1 : 0;
  }
  return counts;
}

bool SearchQuery::matches(const Node& node, const std::vector<std::uint32_t>& hits) {
  const auto matching = [&](const Node& part) { return matches(part, hits); };
  switch (node.kind) {
    case Node::Kind::term:
      AGW_ASSERT(node.term < hits.size());
      return hits[node.term] > 0;
    case Node::Kind::all:
      return std::ranges::all_of(node.parts, matching);
    case Node::Kind::any:
      return std::ranges::any_of(node.parts, matching);
    case Node::Kind::without:
      return matching(node.parts.front()) && std::none_of(node.parts.begin() + 1, node.parts.end(), matching);
  }
  return false;
}

bool SearchQuery::may_match(const std::function<bool(std::size_t term)>& may_occur) const {
  return root_ && agw::may_match(*root_, may_occur);
}

bool SearchQuery::may_match(std::string_view text) const {
  if (!is_ascii(text)) return true;
  const auto folded = ascii_lower_case(text);
  const auto has = [&](const std::string& word) {
    return ::memmem(folded.data(), folded.size(), word.data(), word.size()) != nullptr;
  };
  return may_match([&](std::size_t term) { return std::ranges::all_of(terms_[term].words, has); });
}

bool occurs_at(const SearchQuery::Term& term, const std::vector<IndexedWord>& text, std::size_t n) {
  AGW_DEBUG_ASSERT(n <= text.size());
  const auto& words = term.words;
  if (words.empty() || text.size() - n < words.size()) return false;
  const auto last = words.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    if (text[n + i].word != words[i]) return false;
  }
  const auto& word = text[n + last].word;
  if (term.is_part) return word.find(words[last]) != word.npos;
  return term.prefix ? word.starts_with(words[last]) : word == words[last];
}

}  // namespace agw
