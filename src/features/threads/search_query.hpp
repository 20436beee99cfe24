#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/tokenizer.hpp"

namespace agw {

/// A query that a person typed: words that must all match, "quoted phrases", prefix*, AND, OR, NOT, parentheses. They
/// bind as in SQLite's full-text queries: adjacent words first, then NOT, AND, OR. Every text is a query: invalid
/// syntax is read as plain words. At most `max_terms` terms count.
class SearchQuery {
public:
  static constexpr std::size_t max_terms = 64;

  /// A word or a phrase.
  struct Term {
    std::string text;
    bool prefix = false;                  ///< its last word is a prefix
    bool is_loose = false;                ///< ignored if more words contain it than are looked for
    std::vector<std::string> words = {};  ///< folded, once `fold` has run
    bool is_part = false;  ///< its word is looked for inside other words: see base/text/word_segmentation.hpp
    std::vector<std::string> forms = {};  ///< words of the index that contain its word, once `find_forms` has run
  };

  /// What must match: a term, all or any of the parts, or the first part without the others.
  struct Node {
    enum class Kind { term, all, any, without };
    Kind kind = Kind::term;
    std::size_t term = 0;
    std::vector<Node> parts;
  };

  explicit SearchQuery(std::string_view text);

  /// Finds the words of the terms, as the index knows them, and removes terms without words, such as `+++`.
  void fold(const Tokenizer& tokenizer);

  /// Finds the words that contain the terms marked `is_part`, at most `max_words_with_part`.
  void find_forms(const std::function<std::vector<std::string>(const std::string& word)>& words_with);

  const std::vector<Term>& terms() const { return terms_; }
  /// No value if there is nothing to search for.
  const std::optional<Node>& root() const { return root_; }

  /// How often each term occurs in a text.
  std::vector<std::uint32_t> hits(const std::vector<IndexedWord>& text) const;
  /// Whether a text with these hits matches `node`.
  static bool matches(const Node& node, const std::vector<std::uint32_t>& hits);
  /// False if no text matches in which only terms occur for which `may_occur` is true.
  bool may_match(const std::function<bool(std::size_t term)>& may_occur) const;
  /// False only if the text certainly does not match. Much faster than dividing it into words; for texts in ASCII.
  bool may_match(std::string_view text) const;

private:
  std::vector<Term> terms_;
  std::optional<Node> root_;
};

/// Whether the term occurs in the text at its n-th word.
bool occurs_at(const SearchQuery::Term& term, const std::vector<IndexedWord>& text, std::size_t n);

/// The part of `text` that contains most of the search terms: about `snippet_bytes`, on one line, with `…` for what was
/// left out. `tokens` are those of `text`.
std::string snippet_of(std::string_view text, const std::vector<IndexedWord>& tokens, const SearchQuery& query);

inline constexpr std::size_t snippet_bytes = 160;

}  // namespace agw
