#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

// Words for PostgreSQL's text search. A gateway divides texts into words itself (storage/tokenizer.hpp), so that
// PostgreSQL finds what SQLite finds, or more: a long word is cut, and a part of a word of a script without spaces is
// found by its pairs of letters. A caller that needs exact matches checks the texts found.

/// The words of a document, as the text of a tsvector.
/// Example: src/storage/word_vector_test.cpp: WordVectorTest.HasWordsWithTheirPlaces
class WordVector {
public:
  /// Adds a word without a place: for searches that need no phrases and no ranking.
  void add(std::string_view word);
  /// Adds the words of a field, whose `weight` is A, B, C or D, at the places after those of earlier fields. Places
  /// that PostgreSQL cannot count mark the document as long.
  void add_field(const std::vector<std::string_view>& words, char weight);

  /// For `CAST(:words AS tsvector)`. If the words are more than a tsvector can hold, those that come last are left out,
  /// and the document is marked as long.
  std::string text() const;
  /// Whether words were left out.
  bool is_cut() const;

private:
  void add_at(std::string_view word, std::string_view place);

  std::map<std::string, std::string, std::less<>> places_;  ///< by word, separated by commas
  std::vector<std::string> order_;                          ///< the words as they came
  std::size_t bytes_ = 0;                                   ///< of the words that fit, with their places
  std::size_t fitting_ = 0;                                 ///< how many of `order_` fit
  std::size_t next_place_ = 1;
  bool is_long_ = false;
};

/// A query for a word, or for words that begin with it, as the text of a tsquery.
std::string word_query(std::string_view word, bool prefix);
/// A query for words that contain `part`, which has letters of a script without spaces.
std::string part_query(std::string_view part);
/// A query for words in a row. Finds long documents with all the words, too.
std::string phrase_query(const std::vector<std::string>& words, bool prefix);
/// A query for documents marked as long.
std::string_view long_query();

}  // namespace agw
