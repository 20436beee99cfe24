#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/librarian/search_words.hpp"

namespace agw {

/// A search result, ready to be quoted.
struct Passage {
  std::string text;    ///< at most about `max_quote_length` bytes
  std::string source;  ///< author, time and place; Markdown on one line
  bool of_this_thread = false;
};

inline constexpr std::size_t max_quote_length = 240;

/// A query to the librarian's sources.
struct LibraryQuestion {
  std::vector<std::string> words;  ///< see search_words
  Match match = Match::all;
  std::string message;  ///< the complete message, which must not be quoted as its own answer
  std::string agent_id;
  std::string thread_id;
  std::size_t limit = 10;  ///< maximum number of passages
};

/// A source that the librarian searches.
class LibrarySource {
public:
  virtual ~LibrarySource() = default;

  /// The source's name for use in a sentence: `the turns of this agent's threads`.
  virtual std::string name() const = 0;

  /// The matching passages, best first. Deterministic for the same question and data.
  virtual Task<std::vector<Passage>> find(LibraryQuestion question) = 0;
};

}  // namespace agw
