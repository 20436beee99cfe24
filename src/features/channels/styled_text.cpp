// Markdown as Message Styling (XEP-0393), which clients show without a parser: spans have one character at each end,
// blocks are lines.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/markdown_tree.hpp"
#include "features/channels/markup.hpp"

namespace agw {

namespace {

class StyledWriter {
public:
  std::string write(const MarkdownTree& tree) {
    tree.walk([this](cmark_node* node) { enter(node); }, [this](cmark_node* node) { leave(node); });
    const auto last = out_.find_last_not_of('\n');
    out_.resize(last == out_.npos ? 0 : last + 1);
    return std::move(out_);
  }

private:
  static std::string_view kind(cmark_node* node) { return cmark_node_get_type_string(node); }

  void enter(cmark_node* node) {
    const auto type = kind(node);
    if (type == "text" || type == "html_inline")
      out_ += literal_of(node);
    else if (type == "softbreak" || type == "linebreak")
      new_line();
    else if (type == "code")
      out_ += fmt::format("`{}`", literal_of(node));
    else if (type == "code_block")
      code_block(node);
    else if (type == "html_block")
      block(), add_lines(literal_of(node));
    else if (type == "thematic_break")
      block(), out_ += "———";
    else if (type == "paragraph")
      block();
    else if (type == "heading")
      block(), span('*');
    else if (const char mark = mark_of(type))
      span(mark);
    else if (type == "block_quote")
      block(), out_ += "> ", ++quotes_, begins_block_ = true;
    else if (type == "list")
      open_list(node);
    else if (type == "item" || type == "tasklist")
      open_item();
    else if (type == "table")
      block(), out_ += "```", new_line(), in_table_ = true;
    else if (type == "table_cell" && cmark_node_previous(node))
      out_ += " | ";
  }

  void leave(cmark_node* node) {
    const auto type = kind(node);
    if (type == "heading")
      span('*');
    else if (const char mark = mark_of(type))
      span(mark);
    else if (type == "link" || type == "image")
      add_address(node);
    else if (type == "block_quote")
      --quotes_;
    else if (type == "list")
      lists_.pop_back();
    else if (type == "table_row" || type == "table_header")
      new_line();
    else if (type == "table")
      out_ += "```", in_table_ = false;
  }

  static char mark_of(std::string_view type) {
    if (type == "strong") return '*';
    if (type == "emph") return '_';
    return type == "strikethrough" ? '~' : '\0';
  }

  void span(char mark) {
    if (!in_table_) out_ += mark;
  }

  void new_line() {
    out_ += '\n';
    for (int i = 0; i < quotes_; ++i) out_ += "> ";
  }

  void add_lines(std::string_view text) {
    for (const char c : text.ends_with('\n') ? text.substr(0, text.size() - 1) : text) {
      if (c == '\n')
        new_line();
      else
        out_ += c;
    }
  }

  /// Begins a block on a line of its own, after an empty line outside of lists.
  void block() {
    if (std::exchange(begins_block_, false) || out_.empty()) return;
    if (lists_.empty()) new_line();
    new_line();
  }

  void code_block(cmark_node* node) {
    block();
    out_ += fmt::format("```{}", cmark_node_get_fence_info(node));
    new_line();
    add_lines(literal_of(node));
    new_line();
    out_ += "```";
  }

  void add_address(cmark_node* node) {
    const auto address = address_of(node);
    // The address is not repeated if it is the link's text.
    if (!in_table_ && !address.empty() && !out_.ends_with(address)) out_ += fmt::format(" ({})", address);
  }

  void open_list(cmark_node* node) {
    if (lists_.empty() && !out_.empty() && !begins_block_) new_line();
    const bool is_ordered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST;
    lists_.push_back(is_ordered ? cmark_node_get_list_start(node) : -1);
  }

  void open_item() {
    if (!out_.empty() && !begins_block_) new_line();
    out_.append((lists_.size() - 1) * 2, ' ');
    auto& number = lists_.back();
    out_ += number < 0 ? std::string("• ") : fmt::format("{}. ", number++);
    begins_block_ = true;
  }

  std::string out_;
  std::vector<int> lists_;  ///< the next number of each open list; -1 in one without numbers
  int quotes_ = 0;
  bool begins_block_ = false;
  bool in_table_ = false;
};

}  // namespace

std::string styled_text(std::string_view markdown) { return StyledWriter().write(MarkdownTree(markdown)); }

}  // namespace agw
