#include "features/channels/markup_writer.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/containers.hpp"

namespace agw {

namespace {

std::string_view kind_of(cmark_node* node) { return cmark_node_get_type_string(node); }

bool begins_line(std::string_view kind) {
  constexpr std::array<std::string_view, 7> kinds{"paragraph",      "heading",     "code_block", "html_block",
                                                  "thematic_break", "block_quote", "table"};
  return contains(kinds, kind);
}

bool is_item(std::string_view kind) { return kind == "item" || kind == "tasklist"; }

bool is_link(std::string_view kind) { return kind == "link" || kind == "image"; }

std::string_view without_line_end(std::string_view text) {
  return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
}

}  // namespace

std::string MarkupWriter::write(std::string_view markdown) {
  const MarkdownTree tree(markdown);
  tree.walk([this](cmark_node* node) { enter(node); }, [this](cmark_node* node) { leave(node); });
  const auto last = out_.find_last_not_of('\n');
  out_.resize(last == out_.npos ? 0 : last + 1);
  return std::move(out_);
}

std::optional<MarkupWriter::Span> MarkupWriter::span_of(cmark_node* node) {
  const auto kind = kind_of(node);
  if (kind == "heading" || kind == "strong") return Span::bold;
  if (kind == "emph") return Span::italic;
  return kind == "strikethrough" ? std::optional(Span::struck) : std::nullopt;
}

void MarkupWriter::enter(cmark_node* node) {
  const auto kind = kind_of(node);
  if (begins_line(kind)) begin_block();
  if (const auto span = span_of(node); span && !in_table_) begin_span(*span);
  if (is_link(kind)) begin_link(address_of(node));
  if (kind == "text" || kind == "html_inline") add_text(literal_of(node));
  if (kind == "html_block") add_text(without_line_end(literal_of(node)));
  if (kind == "softbreak" || kind == "linebreak") new_line();
  if (kind == "code") add_code(literal_of(node));
  if (kind == "code_block") add_code_block(cmark_node_get_fence_info(node), without_line_end(literal_of(node)));
  if (kind == "thematic_break") out_ += "———";
  if (kind == "block_quote") begin_quote(), begins_block_ = true;
  if (kind == "list") begin_list(node);
  if (is_item(kind)) begin_item();
  if (kind == "table") begin_table(), in_table_ = true;
  if (kind == "table_cell" && cmark_node_previous(node)) out_ += " | ";
}

void MarkupWriter::leave(cmark_node* node) {
  const auto kind = kind_of(node);
  if (const auto span = span_of(node); span && !in_table_) end_span(*span);
  if (is_link(kind)) end_link(address_of(node));
  if (kind == "block_quote" || is_item(kind)) begins_block_ = false;
  if (kind == "block_quote") end_quote();
  if (kind == "list") lists_.pop_back();
  if (kind == "table_row" || kind == "table_header") new_line();
  if (kind == "table") end_table(), in_table_ = false;
}

/// Begins a block on a new line, after an empty line outside of lists.
void MarkupWriter::begin_block() {
  if (std::exchange(begins_block_, false) || out_.empty()) return;
  if (lists_.empty()) new_line();
  new_line();
}

void MarkupWriter::begin_list(cmark_node* node) {
  if (lists_.empty() && !out_.empty() && !begins_block_) new_line();
  const bool is_ordered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST;
  lists_.push_back(is_ordered ? cmark_node_get_list_start(node) : -1);
}

void MarkupWriter::begin_item() {
  if (!out_.empty() && !begins_block_) new_line();
  out_.append((lists_.size() - 1) * 2, ' ');
  auto& number = lists_.back();
  out_ += number < 0 ? std::string("• ") : fmt::format("{}. ", number++);
  begins_block_ = true;
}

}  // namespace agw
