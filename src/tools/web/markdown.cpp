// Writes Markdown while the page is parsed. Elements that open and close only record the output due before the next
// text: breaks, prefixes of lists and quotes, a heading, a span. `begin_text` writes it, so empty elements produce no
// output. A row with one cell is only layout, and is written as text.

#include "tools/web/markdown.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "base/containers.hpp"

namespace agw {

namespace {

constexpr std::size_t max_markdown = 4 * 1024 * 1024;
constexpr std::size_t max_prefixes = 12;

using Names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view element, Names names) { return contains(names, element); }

/// Elements without text for readers.
bool is_skipped(std::string_view element) {
  return is_one_of(element, {"script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "select",
                             "datalist", "math"});
}

bool is_heading(std::string_view element) {
  return element.size() == 2 && element[0] == 'h' && element[1] >= '1' && element[1] <= '6';
}

bool is_paragraph(std::string_view element) {
  return is_one_of(element, {"p",       "div",     "section", "article",    "main",    "header", "footer",
                             "nav",     "aside",   "figure",  "figcaption", "address", "form",   "fieldset",
                             "details", "summary", "dl",      "table",      "caption", "body"});
}

std::string_view mark_of(std::string_view element) {
  if (is_one_of(element, {"strong", "b"})) return "**";
  if (is_one_of(element, {"em", "i"})) return "*";
  if (is_one_of(element, {"del", "s", "strike"})) return "~~";
  if (is_one_of(element, {"code", "kbd", "samp", "tt"})) return "`";
  return {};
}

std::string_view attribute(const HtmlEvents::Attributes& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, [](const auto& one) { return one.first; });
  return found == attributes.end() ? std::string_view() : found->second;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return boost::trim_copy(text);
}

bool has_code(std::string_view text) { return text.starts_with("```") || text.find("\n```") != text.npos; }

}  // namespace

bool MarkdownWriter::is_full() const { return at_.out.size() >= max_markdown; }

std::string MarkdownWriter::take_title() { return one_line(std::move(title_)); }

void MarkdownWriter::open(std::string_view element, const Attributes& attributes) {
  if (is_skipped(element)) ++skipping_;
  if (element == "title") ++in_title_;
  if (skipping_ > 0 || is_full()) return;
  if (element == "base") {
    if (auto base = base_.resolve(attribute(attributes, "href"))) base_ = std::move(*base);
    return;
  }
  if (!open_block(element)) open_inline(element, attributes);
}

void MarkdownWriter::close(std::string_view element) {
  if (element == "title") --in_title_;
  if (is_skipped(element)) {
    --skipping_;
    return;
  }
  if (skipping_ == 0 && !close_block(element)) close_span(element);
}

void MarkdownWriter::text(std::string_view text) {
  if (skipping_ > 0 || is_full()) return;
  if (in_title_ > 0) {
    title_ += text.substr(0, 1000);
  } else if (in_pre_ > 0) {
    write_raw(text);
  } else {
    write(text);
  }
}

bool MarkdownWriter::open_block(std::string_view element) {
  if (is_heading(element)) {
    request_breaks(2);
    at_.fresh = true;
    at_.heading = std::string(static_cast<std::size_t>(element[1] - '0'), '#') + " ";
  } else if (element == "br" || element == "dt") {
    request_breaks(1);
  } else if (element == "hr") {
    request_breaks(2);
    write("---");
    request_breaks(2);
  } else if (element == "ul" || element == "ol") {
    request_breaks(lists_.empty() ? 2 : 1);
    lists_.push_back({.ordered = element == "ol"});
  } else if (element == "li") {
    open_item();
  } else if (element == "blockquote" || element == "dd") {
    request_breaks(element == "dd" ? 1 : 2);
    const std::string prefix = element == "dd" ? "  " : "> ";
    push_prefix(prefix, prefix);
  } else if (element == "pre") {
    open_pre();
  } else if (element == "td" || element == "th") {
    outer_.push_back(std::exchange(at_, Place{}));
  } else if (is_paragraph(element)) {
    request_breaks(2);
  } else {
    return false;
  }
  return true;
}

bool MarkdownWriter::close_block(std::string_view element) {
  if (is_heading(element)) {
    at_.heading.clear();
    request_breaks(2);
  } else if (element == "ul" || element == "ol") {
    if (!lists_.empty()) lists_.pop_back();
    request_breaks(lists_.empty() ? 2 : 1);
  } else if (element == "li") {
    close_item();
  } else if (element == "blockquote" || element == "dd") {
    pop_prefix();
    request_breaks(element == "dd" ? 1 : 2);
  } else if (element == "pre") {
    close_pre();
  } else if (element == "td" || element == "th") {
    close_cell();
  } else if (element == "tr") {
    close_row();
  } else if (is_paragraph(element)) {
    if (element == "table") at_.rows = 0;
    request_breaks(2);
  } else {
    return false;
  }
  return true;
}

void MarkdownWriter::open_inline(std::string_view element, const Attributes& attributes) {
  if (element == "img") return write_image(attributes);
  if (element == "a" || !mark_of(element).empty()) {
    at_.spans.push_back({.element = std::string(element), .address = address(attributes, "href")});
    at_.fresh = true;
  }
}

/// The target of a link, if it leads to another page.
std::string MarkdownWriter::address(const Attributes& attributes, std::string_view name) const {
  const auto given = attribute(attributes, name);
  if (given.empty() || given.starts_with('#')) return {};
  const auto resolved = base_.resolve(given);
  return resolved ? resolved->text() : std::string();
}

void MarkdownWriter::close_span(std::string_view element) {
  if (at_.spans.empty() || at_.spans.back().element != element) return;
  const auto span = std::move(at_.spans.back());
  at_.spans.pop_back();
  if (span.begin == std::string::npos || in_pre_ > 0) return;
  const auto inside = at_.out.substr(span.begin);
  const auto mark = mark_of(element);
  if (element == "a") {
    if (span.address.empty()) return;
    const bool is_line = inside.find('\n') == inside.npos;
    at_.out.replace(span.begin, inside.size(),
                    is_line ? fmt::format("[{}]({})", inside, span.address) : inside + " (" + span.address + ")");
  } else if (inside.find('\n') == inside.npos) {
    at_.out.replace(span.begin, inside.size(), fmt::format("{}{}{}", mark, inside, mark));
  }
}

void MarkdownWriter::open_item() {
  request_breaks(1);
  std::string marker = "- ";
  if (!lists_.empty() && lists_.back().ordered) marker = fmt::format("{}. ", ++lists_.back().number);
  push_prefix(marker, std::string(marker.size(), ' '));
}

void MarkdownWriter::close_item() {
  pop_prefix();
  request_breaks(1);
}

void MarkdownWriter::open_pre() {
  request_breaks(2);
  begin_text();
  at_.out += "```";
  ++in_pre_;
  new_line(Line::with_text);
}

void MarkdownWriter::close_pre() {
  in_pre_ = std::max(0, in_pre_ - 1);
  if (!at_.out.ends_with('\n')) new_line(Line::with_text);
  at_.out += "```";
  request_breaks(2);
}

void MarkdownWriter::close_cell() {
  if (outer_.empty()) return;
  auto cell = boost::trim_copy(at_.out);
  at_ = std::move(outer_.back());
  outer_.pop_back();
  at_.row.push_back(std::move(cell));
}

/// A row with one cell is only layout, and so is one with code, such as that beside its line numbers.
void MarkdownWriter::close_row() {
  auto row = std::exchange(at_.row, {});
  if (std::ranges::all_of(row, &std::string::empty)) return;
  request_breaks(at_.rows == 0 ? 2 : 1);
  if (row.size() == 1 || std::ranges::any_of(row, has_code)) {
    for (const auto& cell : row) {
      if (cell.empty()) continue;
      begin_text();
      write_raw(cell);
      request_breaks(row.size() == 1 ? 0 : 2);
    }
    return;
  }
  for (auto& cell : row) {
    cell = one_line(std::move(cell));
    boost::replace_all(cell, "|", "\\|");
  }
  begin_text();
  at_.out += "| " + boost::join(row, " | ") + " |";
  if (at_.rows++ > 0) return;
  new_line(Line::with_text);
  at_.out += "|";
  for (std::size_t i = 0; i < row.size(); ++i) at_.out += " --- |";
}

void MarkdownWriter::write_image(const Attributes& attributes) {
  const auto alternative = one_line(std::string(attribute(attributes, "alt")));
  const auto source = address(attributes, "src");
  if (alternative.empty()) return;
  begin_text();
  at_.out += source.empty() ? alternative : fmt::format("![{}]({})", alternative, source);
}

void MarkdownWriter::write(std::string_view text) {
  for (const char c : text) {
    if (is_space(c)) {
      at_.space = true;
    } else {
      if (at_.breaks > 0 || at_.space || at_.fresh) begin_text();
      at_.out += c;
    }
  }
}

void MarkdownWriter::write_raw(std::string_view text) {
  for (;;) {
    const auto end = text.find_first_of("\r\n");
    at_.out += text.substr(0, end);
    if (end == text.npos) return;
    if (text[end] == '\n') new_line(Line::with_text);
    text.remove_prefix(end + 1);
  }
}

/// Writes pending breaks and prefixes before the next text.
void MarkdownWriter::begin_text() {
  const int breaks = std::exchange(at_.breaks, 0);
  const bool space = std::exchange(at_.space, false);
  at_.fresh = false;
  if (at_.out.empty()) {
    write_prefixes(Line::with_text);
  } else if (breaks > 0) {
    if (breaks > 1) new_line(Line::blank);
    new_line(Line::with_text);
  } else if (space) {
    at_.out += ' ';
  }
  at_.out += std::exchange(at_.heading, {});
  for (auto& span : at_.spans) {
    if (span.begin == std::string::npos) span.begin = at_.out.size();
  }
}

/// The text of an item begins on the line of its bullet.
void MarkdownWriter::request_breaks(int count) {
  at_.space = false;
  const bool on_new_item = !at_.prefixes.empty() && !at_.prefixes.back().begun && at_.breaks > 0;
  at_.breaks = std::max(at_.breaks, on_new_item ? 1 : count);
}

void MarkdownWriter::push_prefix(std::string first, std::string rest) {
  if (at_.prefixes.size() >= max_prefixes) first = rest = "";
  at_.prefixes.push_back({std::move(first), std::move(rest)});
}

void MarkdownWriter::pop_prefix() {
  if (!at_.prefixes.empty()) at_.prefixes.pop_back();
}

void MarkdownWriter::new_line(Line line) {
  while (at_.out.ends_with(' ')) at_.out.pop_back();
  at_.out += '\n';
  write_prefixes(line);
}

void MarkdownWriter::write_prefixes(Line line) {
  for (auto& prefix : at_.prefixes) {
    if (prefix.begun) {
      at_.out += prefix.rest;
    } else if (line == Line::with_text) {
      at_.out += prefix.first;
      prefix.begun = true;
    }
  }
}

ReadablePage html_to_markdown(std::string_view utf8, const WebUrl& url) {
  MarkdownWriter writer(url);
  ReadablePage page;
  page.problem = read_html(utf8, writer);
  page.title = writer.take_title();
  page.markdown = boost::trim_right_copy(writer.take_markdown());
  return page;
}

}  // namespace agw
