#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/http/web_url.hpp"
#include "tools/web/html.hpp"

namespace agw {

/// The readable text of a web page.
struct ReadablePage {
  std::string title;
  std::string markdown;  ///< headings, lists, tables, code, links with full addresses; no scripts, styles, markup
  std::string problem;   ///< why the end of the page is missing, for people; empty if it is complete
};

/// `url` is the base of relative links. Blocks: not for the loop.
/// Example: src/tools/web/markdown_test.cpp: Markdown.HasTheTextOfAPageAndItsTitle
ReadablePage html_to_markdown(std::string_view utf8, const WebUrl& url);

/// Writes Markdown from the events of a page. Breaks between blocks are recorded and written before the next text, so
/// that empty elements produce no output.
class MarkdownWriter : public HtmlEvents {
public:
  explicit MarkdownWriter(WebUrl base) : base_(std::move(base)) {}

  void open(std::string_view element, const Attributes& attributes) override;
  void close(std::string_view element) override;
  void text(std::string_view text) override;

  std::string take_markdown() { return std::move(at_.out); }
  std::string take_title();

private:
  /// A span whose marks, such as `**` or a link, are written when its end is known.
  struct Span {
    std::string element;
    std::string address{};  ///< of a link
    std::size_t begin = std::string::npos;
  };
  /// The start of each line of a block: `> `, or a bullet on the first line and as many spaces on the others.
  struct Prefix {
    std::string first;
    std::string rest;
    bool begun = false;
  };
  enum class Line { blank, with_text };
  /// The destination of text: the page, or the cell of a table.
  struct Place {
    std::string out{};
    std::vector<Span> spans{};
    std::vector<Prefix> prefixes{};
    std::string heading{};  ///< `## `, for the next text
    int breaks = 0;         ///< line ends to be written before the next text
    bool space = false;
    bool fresh = true;               ///< no text since the last break, or none at all
    std::vector<std::string> row{};  ///< the cells of the table's row
    std::size_t rows = 0;            ///< written rows of the table
  };
  struct List {
    bool ordered = false;
    int number = 0;
  };

  bool open_block(std::string_view element);
  void open_inline(std::string_view element, const Attributes& attributes);
  bool close_block(std::string_view element);
  void close_span(std::string_view element);
  void open_item();
  void close_item();
  void open_pre();
  void close_pre();
  void close_cell();
  void close_row();
  void write_image(const Attributes& attributes);
  void write_raw(std::string_view text);
  void write(std::string_view text);
  void begin_text();
  void request_breaks(int count);
  void push_prefix(std::string first, std::string rest);
  void pop_prefix();
  void new_line(Line line);
  void write_prefixes(Line line);
  bool is_full() const;
  std::string address(const Attributes& attributes, std::string_view name) const;

  WebUrl base_;
  Place at_;
  std::vector<Place> outer_;  ///< enclosing the current cells
  std::vector<List> lists_;
  std::string title_;
  int skipping_ = 0;
  int in_title_ = 0;
  int in_pre_ = 0;
};

}  // namespace agw
