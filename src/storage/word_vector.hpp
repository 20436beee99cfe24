#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

// Words for PostgreSQL's text search. The gateway splits texts into words itself (storage/tokenizer.hpp), so that
// PostgreSQL finds everything that SQLite finds, and possibly more: long words are truncated, and parts of words in
// scripts without spaces are found by pairs of letters. Callers that need exact matches check the texts found.

/// The words of a document as the text of a tsvector.
/// Example: src/storage/word_vector_test.cpp: WordVectorTest.HasWordsWithTheirPlaces
class WordVector {
public:
  /// Adds a word without a position, for searches without phrases and ranking.
  void add(std::string_view word);
  /// Adds the words of a field with the `weight` A, B, C or D, at positions after those of earlier fields. Positions
  /// beyond PostgreSQL's maximum mark the document as long.
  void add_field(const std::vector<std::string_view>& words, char weight);

  /// For `CAST(:words AS tsvector)`. Words beyond the capacity of a tsvector are left out, and the document is marked
  /// as long.
  std::string text() const;
  /// Whether words were left out.
  bool is_cut() const;

private:
  void add_at(std::string_view word, std::string_view place);
  void assert_invariants() const;

  std::map<std::string, std::string, std::less<>> places_;  ///< positions by word, separated by commas
  std::vector<std::string> order_;                          ///< in order of first occurrence
  std::size_t bytes_ = 0;                                   ///< of the words that fit and their positions
  std::size_t fitting_ = 0;                                 ///< the number of words in `order_` that fit
  std::size_t next_place_ = 1;
  bool is_long_ = false;
};

/// A query for a word, or for words with that prefix, as the text of a tsquery.
std::string word_query(std::string_view word, bool prefix);
/// A query for words that contain `part`, which has letters of a script without spaces.
std::string part_query(std::string_view part);
/// A query for consecutive words. Also finds long documents that contain all the words.
std::string phrase_query(const std::vector<std::string>& words, bool prefix);
/// A query for documents marked as long.
std::string_view long_query();

}  // namespace agw
