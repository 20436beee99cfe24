#pragma once

#include <optional>
#include <string_view>

namespace agw {

struct ToolUse;

/// The kind of reply that a message requires.
struct Intent {
  enum class Kind {
    search,       ///< quotations from past conversations and knowledge pages
    explanation,  ///< for a greeting or a call for help; nothing is searched
    summary,      ///< of this thread
    note,         ///< something to remember
    echo,         ///< a repetition of `text`
  };
  Kind kind = Kind::search;
  std::string_view text;  ///< of note and echo: the message without the words that introduce it
};

/// Determines the intent of a message. The result refers to the message's text. `/name` counts as the first word;
/// alone, it is a search term unless `is_command`.
Intent read_intent(std::string_view message, bool is_command = false);

/// Returns the tool call that a message clearly requests, such as `read notes.md`, `grep otters in src`, `list jobs`;
/// nullopt for any other message. The call has no id.
std::optional<ToolUse> read_tool_request(std::string_view message);

}  // namespace agw
