// Converts Markdown to Message Styling (XEP-0393): spans have one character at each end, blocks are lines.

#include <fmt/format.h>

#include "features/channels/markup.hpp"
#include "features/channels/markup_writer.hpp"

namespace agw {

namespace {

class StyledWriter : public MarkupWriter {
private:
  static char mark_of(Span span) { return span == Span::bold ? '*' : span == Span::italic ? '_' : '~'; }

  void add_text(std::string_view text) override {
    for (const char c : text) {
      if (c == '\n')
        new_line();
      else
        out_ += c;
    }
  }

  void add_code(std::string_view code) override { out_ += fmt::format("`{}`", code); }

  void add_code_block(std::string_view info, std::string_view code) override {
    out_ += fmt::format("```{}", info);
    new_line();
    add_text(code);
    new_line();
    out_ += "```";
  }

  void begin_span(Span span) override { out_ += mark_of(span); }
  void end_span(Span span) override { out_ += mark_of(span); }

  void begin_link(std::string_view /*address*/) override {}
  void end_link(std::string_view address) override {
    // The address is omitted if it is the link's text.
    if (!in_table() && !address.empty() && !out_.ends_with(address)) out_ += fmt::format(" ({})", address);
  }

  void begin_quote() override {
    out_ += "> ";
    ++quotes_;
  }
  void end_quote() override { --quotes_; }

  void begin_table() override {
    out_ += "```";
    new_line();
  }
  void end_table() override { out_ += "```"; }

  void new_line() override {
    out_ += '\n';
    for (int i = 0; i < quotes_; ++i) out_ += "> ";
  }

  int quotes_ = 0;
};

}  // namespace

std::string styled_text(std::string_view markdown) { return StyledWriter().write(markdown); }

}  // namespace agw
