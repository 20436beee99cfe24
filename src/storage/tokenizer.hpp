#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"

namespace agw {

/// One word of a text as in the search indexes: folded (case, diacritics), with its position in the text.
struct IndexedWord {
  std::string word;
  std::size_t begin = 0;  ///< bytes
  std::size_t end = 0;
};

/// Splits texts into words exactly as the search indexes do, with SQLite's tokenizers.
class Tokenizer {
public:
  /// `stemmed` reduces English words to their stems.
  enum class Words { whole, stemmed };

  /// Throws DatabaseError. The connection must outlive the tokenizer; a connection to another engine is not used.
  explicit Tokenizer(Connection& connection, Words words = Words::whole);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  std::vector<IndexedWord> tokens(std::string_view text) const;
  void for_each_word(std::string_view text, const std::function<void(std::string_view word)>& each) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace agw
