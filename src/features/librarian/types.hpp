#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/async/task.hpp"
#include "features/librarian/search_words.hpp"

namespace agw {

/// Something that was found, ready to be quoted.
struct Passage {
  std::string text;    ///< at most about `max_quote_length` bytes
  std::string source;  ///< who, when and where, in Markdown on one line
  bool of_this_thread = false;
};

inline constexpr std::size_t max_quote_length = 240;

/// What the librarian asks its sources.
struct LibraryQuestion {
  std::vector<std::string> words;  ///< see search_words
  Match match = Match::all;
  std::string message;  ///< the whole question, which is no answer to itself
  std::string agent_id;
  std::string thread_id;
  std::size_t limit = 10;  ///< of passages
};

/// Where the librarian looks things up.
class LibrarySource {
public:
  virtual ~LibrarySource() = default;

  /// What is searched, to be named in a sentence: `the turns of this agent's threads`.
  virtual std::string name() const = 0;

  /// The passages that match, best first; the same ones for the same question and data.
  virtual Task<std::vector<Passage>> find(LibraryQuestion question) = 0;
};

}  // namespace agw
