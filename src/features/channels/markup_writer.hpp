#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/markdown_tree.hpp"

namespace agw {

/// Converts Markdown to the markup of a messenger. This class turns blocks, lists and tables into lines; a subclass
/// writes the markup of its messenger by appending to `out_`. An object converts one text.
class MarkupWriter {
public:
  virtual ~MarkupWriter() = default;
  std::string write(std::string_view markdown);

protected:
  enum class Span { bold, italic, struck };

  virtual void add_text(std::string_view text) = 0;
  virtual void add_code(std::string_view code) = 0;
  /// `info` is the text after the opening fence, such as the language.
  virtual void add_code_block(std::string_view info, std::string_view code) = 0;
  /// Not called within tables, whose text has no styles.
  virtual void begin_span(Span span) = 0;
  virtual void end_span(Span span) = 0;
  virtual void begin_link(std::string_view address) = 0;
  virtual void end_link(std::string_view address) = 0;
  virtual void begin_quote() = 0;
  virtual void end_quote() = 0;
  virtual void begin_table() = 0;
  virtual void end_table() = 0;
  virtual void new_line() { out_ += '\n'; }

  bool in_table() const { return in_table_; }

  std::string out_;

private:
  static std::optional<Span> span_of(cmark_node* node);
  void enter(cmark_node* node);
  void leave(cmark_node* node);
  void begin_block();
  void begin_list(cmark_node* node);
  void begin_item();

  std::vector<int> lists_;     ///< the next number of each open list; -1 for a bullet list
  bool begins_block_ = false;  ///< the next block begins on the current line
  bool in_table_ = false;
};

}  // namespace agw
