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

/// A query that a person typed: words that must all match, "quoted phrases", prefix*, AND, OR, NOT, parentheses.
/// Operators bind as in SQLite's full-text queries: adjacent words first, then NOT, AND, OR. Every text is a query:
/// invalid syntax is read as plain words. At most `max_terms` terms count.
class SearchQuery {
public:
  static constexpr std::size_t max_terms = 64;

  /// A word or a phrase.
  struct Term {
    std::string text;
    bool prefix = false;                  ///< its last word is a prefix
    bool is_loose = false;                ///< ignored if `max_words_with_part` words contain it
    std::vector<std::string> words = {};  ///< folded; set by `fold`
    bool is_part = false;                 ///< matches inside other words: see base/text/word_segmentation.hpp
    std::vector<std::string> forms = {};  ///< the words of the index that contain its word; set by `find_forms`
  };

  /// What must match: a term, all or any of the parts, or the first part without the others.
  struct Node {
    enum class Kind { term, all, any, without };
    Kind kind = Kind::term;
    std::size_t term = 0;
    std::vector<Node> parts;
  };

  explicit SearchQuery(std::string_view text);

  /// Splits the terms into words, folded as in the index, and removes terms without words, such as `+++`.
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
  /// False if no text can match that contains only terms for which `may_occur` is true.
  bool may_match(const std::function<bool(std::size_t term)>& may_occur) const;
  /// False only if the text certainly does not match. Much faster than dividing it into words. Always true for a text
  /// that is not ASCII.
  bool may_match(std::string_view text) const;

private:
  std::vector<Term> terms_;
  std::optional<Node> root_;
};

/// Whether the term occurs in the text, beginning with the n-th word.
bool occurs_at(const SearchQuery::Term& term, const std::vector<IndexedWord>& text, std::size_t n);

/// The part of `text` that contains most of the search terms: about `snippet_bytes` on one line, with `…` for omitted
/// text. `tokens` are those of `text`.
std::string snippet_of(std::string_view text, const std::vector<IndexedWord>& tokens, const SearchQuery& query);

inline constexpr std::size_t snippet_bytes = 160;

}  // namespace agw
