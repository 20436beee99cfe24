#pragma once

#include "cli/client/asker.hpp"
#include "cli/output/answer_printer.hpp"
#include "cli/output/typed_lines.hpp"

namespace agw::cli {

/// Asks at the terminal: questions on standard error, answers as lines on standard input.
class TerminalAsker : public Asker {
public:
  /// Whether a person can be asked here: standard input and standard error are terminals.
  static bool is_possible();

  /// The references must outlive this object.
  TerminalAsker(Loop& loop, AnswerPrinter& printer) : loop_(loop), printer_(printer) {}

  Task<std::optional<json::object>> ask(json::object request, StopSource& over) override;
  void show_decision(const json::object& decided) override;

private:
  Task<std::optional<json::object>> ask_permission(const json::object& request, TypedLines& lines, StopSource& over);
  Task<std::optional<json::object>> ask_question(const json::object& question, TypedLines& lines, StopSource& over);
  Task<std::optional<json::object>> fill_in(const json::object& form, TypedLines& lines, StopSource& over);

  Loop& loop_;
  AnswerPrinter& printer_;
};

}  // namespace agw::cli
