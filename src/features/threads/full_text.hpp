#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"

namespace agw {

/// One word of a text as the search index knows it: folded (case, diacritics), with its position in the text.
struct IndexedWord {
  std::string word;
  std::size_t begin = 0;  ///< bytes
  std::size_t end = 0;
};

/// Splits texts into words exactly as the search index does.
class Tokenizer {
public:
  /// Throws DatabaseError. The connection must outlive it.
  explicit Tokenizer(Connection& connection);
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  std::vector<IndexedWord> tokens(std::string_view text) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Registers the function `turn_hits(turn_words)` with the connection. For a matching row it returns a blob of unsigned
/// 32-bit numbers in native byte order: the number of words in the body, then the number of occurrences of each phrase,
/// in the order of the query.
void add_hits_function(Connection& connection);

/// The numbers of such a blob.
std::vector<std::uint32_t> read_hits(std::string_view blob);

}  // namespace agw
