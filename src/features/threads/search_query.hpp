#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "features/threads/full_text.hpp"

namespace agw {

/// What a person typed to search: words that must all match, "quoted phrases", prefix*, AND, OR, NOT, parentheses,
/// bound as in SQLite's full-text queries: words next to each other first, then NOT, AND, OR. Any text makes a query:
/// what is not valid is taken as plain words, at most `most_terms` of them.
class SearchQuery {
public:
  static constexpr std::size_t most_terms = 64;

  /// A word or a phrase.
  struct Term {
    std::string text;
    bool prefix = false;                  ///< its last word may go on
    bool is_loose = false;                ///< left out where it stands in more words than are looked for
    std::vector<std::string> words = {};  ///< folded, once `fold` has run
    bool is_part = false;                 ///< its word is looked for within words: see base/unspaced.hpp
    std::vector<std::string> forms = {};  ///< words of the index that its word stands in, once `find_forms` has run
  };

  /// What must match: a term, all or any of the parts, or the first part without the others.
  struct Node {
    enum class Kind { term, all, any, without };
    Kind kind = Kind::term;
    std::size_t term = 0;
    std::vector<Node> parts;
  };

  explicit SearchQuery(std::string_view text);

  /// Finds the words of the terms, as the index knows them, and leaves out terms without any, such as `+++`.
  void fold(const Tokenizer& tokenizer);

  /// Finds the words that terms stand in which are looked for within words: `most_words_with_part` at most.
  void find_forms(const std::function<std::vector<std::string>(const std::string& word)>& words_with);

  const std::vector<Term>& terms() const { return terms_; }
  /// Nothing when there is nothing to search for.
  const std::optional<Node>& root() const { return root_; }

  /// How often each term stands in a text.
  std::vector<std::uint32_t> hits(const std::vector<IndexedWord>& text) const;
  /// Whether a text with these hits matches `node`.
  static bool matches(const Node& node, const std::vector<std::uint32_t>& hits);

private:
  std::vector<Term> terms_;
  std::optional<Node> root_;
};

/// Whether the term stands in the text at its n-th word.
bool stands_at(const SearchQuery::Term& term, const std::vector<IndexedWord>& text, std::size_t n);

}  // namespace agw
