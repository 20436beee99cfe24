#include <fmt/format.h>

#include "features/channels/markup.hpp"
#include "features/channels/markup_writer.hpp"

namespace agw {

namespace {

std::string escaped(std::string_view text) {
  std::string html;
  html.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else if (c == '&')
      html += "&amp;";
    else if (c == '"')
      html += "&quot;";
    else
      html += c;
  }
  return html;
}

bool is_web_or_mail(std::string_view address) {
  return address.starts_with("https://") || address.starts_with("http://") || address.starts_with("mailto:");
}

class TelegramWriter : public MarkupWriter {
private:
  static char tag_of(Span span) { return span == Span::bold ? 'b' : span == Span::italic ? 'i' : 's'; }

  void add_text(std::string_view text) override { out_ += escaped(text); }

  void add_code(std::string_view code) override {
    out_ += in_table() ? escaped(code) : fmt::format("<code>{}</code>", escaped(code));
  }

  void add_code_block(std::string_view info, std::string_view code) override {
    const auto language = info.substr(0, info.find_first_of(" \t"));
    out_ += language.empty()
                ? fmt::format("<pre>{}</pre>", escaped(code))
                : fmt::format("<pre><code class=\"language-{}\">{}</code></pre>", escaped(language), escaped(code));
  }

  void begin_span(Span span) override { out_ += fmt::format("<{}>", tag_of(span)); }
  void end_span(Span span) override { out_ += fmt::format("</{}>", tag_of(span)); }

  /// Links cannot be nested.
  void begin_link(std::string_view address) override {
    const bool is_shown = !in_table() && open_links_.empty() && is_web_or_mail(address);
    if (is_shown) out_ += fmt::format("<a href=\"{}\">", escaped(address));
    open_links_.push_back(is_shown);
  }

  void end_link(std::string_view /*address*/) override {
    if (open_links_.back()) out_ += "</a>";
    open_links_.pop_back();
  }

  /// Quotes cannot be nested.
  void begin_quote() override {
    if (quotes_++ == 0) out_ += "<blockquote>";
  }
  void end_quote() override {
    if (--quotes_ == 0) out_ += "</blockquote>";
  }

  void begin_table() override { out_ += "<pre>"; }
  void end_table() override {
    while (out_.ends_with('\n')) out_.pop_back();
    out_ += "</pre>";
  }

  std::vector<bool> open_links_;
  int quotes_ = 0;
};

}  // namespace

std::string telegram_html(std::string_view markdown) { return TelegramWriter().write(markdown); }

}  // namespace agw
