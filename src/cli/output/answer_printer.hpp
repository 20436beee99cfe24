#pragma once

#include <ostream>
#include <string_view>

#include "cli/output/terminal.hpp"

namespace agw::cli {

/// Prints one answer while it is streamed: its text to `out`, notes about tools and errors as lines to `notes`. Escapes
/// control characters in all text from agents.
class AnswerPrinter {
public:
  AnswerPrinter(std::ostream& out, Terminal out_terminal, std::ostream& notes, Terminal notes_terminal)
      : out_(out), out_terminal_(out_terminal), notes_(notes), notes_terminal_(notes_terminal) {}

  void text(std::string_view delta);
  /// Printed only on a terminal that can show it dimmed, which distinguishes it from the answer.
  void reasoning(std::string_view delta);
  void note(std::string_view line);
  void error(std::string_view message);
  /// Prints already printable text to `notes` unchanged.
  void block(std::string_view text);
  /// Ends the answer and its last line.
  void end();

private:
  void print(std::string_view text, bool thinking);
  void break_line();

  std::ostream& out_;
  Terminal out_terminal_;
  std::ostream& notes_;
  Terminal notes_terminal_;
  bool in_line_ = false;   ///< the current line of `out` is not empty
  bool thinking_ = false;  ///< the last output was reasoning
};

}  // namespace agw::cli
