#include "cli/output/answer_printer.hpp"

#include "base/printable.hpp"

namespace agw::cli {

namespace {

constexpr std::size_t note_length = 160;

}  // namespace

void AnswerPrinter::text(std::string_view delta) { print(delta, false); }

void AnswerPrinter::reasoning(std::string_view delta) {
  if (out_terminal_.colours) print(delta, true);
}

void AnswerPrinter::print(std::string_view text, bool thinking) {
  if (text.empty()) return;
  if (thinking != thinking_) break_line();
  thinking_ = thinking;
  const auto shown = printable(text);
  out_ << (thinking ? dim(out_terminal_, shown) : shown) << std::flush;
  in_line_ = text.back() != '\n';
}

void AnswerPrinter::note(std::string_view line) {
  // Starts a new line only if both outputs share a screen. In a file the answer stays unchanged.
  if (out_terminal_.present) break_line();
  notes_ << dim(notes_terminal_, one_line(line, note_length)) << '\n' << std::flush;
}

void AnswerPrinter::error(std::string_view message) {
  if (out_terminal_.present) break_line();
  notes_ << "agw: " << printable(message) << '\n' << std::flush;
}

void AnswerPrinter::block(std::string_view text) {
  if (out_terminal_.present) break_line();
  notes_ << text << std::flush;
}

void AnswerPrinter::end() { break_line(); }

void AnswerPrinter::break_line() {
  if (in_line_) out_ << '\n' << std::flush;
  in_line_ = false;
}

}  // namespace agw::cli
