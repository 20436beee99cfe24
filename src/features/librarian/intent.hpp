#pragma once

#include <string_view>

namespace agw {

/// What a person wants of the librarian.
struct Intent {
  enum class Kind {
    search,       ///< an answer, quoted from what was said before
    explanation,  ///< a greeting, a call for help: nothing to search for
    summary,      ///< what was said in this thread
    note,         ///< something to be remembered
    echo,         ///< to hear `text` again
  };
  Kind kind = Kind::search;
  std::string_view text;  ///< of note and echo: the message without its opening words
};

/// Reads it from the message; the views are into it. `/name` counts as its first word; alone it is something to look
/// for unless it `is_command`.
Intent read_intent(std::string_view message, bool is_command = false);

}  // namespace agw
