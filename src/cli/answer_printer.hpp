#pragma once

#include <ostream>
#include <string_view>

#include "cli/terminal.hpp"

namespace agw::cli {

/// Prints one answer as it comes: its text to `out`, notes about tools and errors as lines to `notes`. Whatever agents
/// said is made printable here.
class AnswerPrinter {
public:
  AnswerPrinter(std::ostream& out, Terminal out_terminal, std::ostream& notes, Terminal notes_terminal)
      : out_(out), out_terminal_(out_terminal), notes_(notes), notes_terminal_(notes_terminal) {}

  void text(std::string_view delta);
  /// Shown only where it can be told from the answer, which is dim on a terminal.
  void reasoning(std::string_view delta);
  void note(std::string_view line);
  void error(std::string_view message);
  /// The answer is over: ends its last line.
  void end();

private:
  void print(std::string_view text, bool thinking);
  void break_line();

  std::ostream& out_;
  Terminal out_terminal_;
  std::ostream& notes_;
  Terminal notes_terminal_;
  bool in_line_ = false;   ///< something stands on the current line of `out`
  bool thinking_ = false;  ///< what came last was reasoning
};

}  // namespace agw::cli
