#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/connection.hpp"

namespace agw {

/// One word of a text as the search index knows it: folded (case, diacritics), and where it stands in the text.
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

/// Makes `turn_hits(turn_words)` known to the connection. For a matching row it gives a blob of unsigned 32-bit numbers
/// in the machine's order: how many words the body has, then how often each phrase of the query, in the order in which
/// they are written, stands in it.
void add_hits_function(Connection& connection);

/// The numbers of such a blob.
std::vector<std::uint32_t> read_hits(std::string_view blob);

}  // namespace agw
