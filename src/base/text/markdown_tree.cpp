#include "base/text/markdown_tree.hpp"

#include <cstdlib>
#include <mutex>

namespace agw {

namespace {

/// The parser modifies tables that all parsers of the library share.
std::mutex& parsing() {
  static std::mutex mutex;
  return mutex;
}

cmark_parser* new_parser() {
  cmark_gfm_core_extensions_ensure_registered();
  auto* parser = cmark_parser_new(CMARK_OPT_VALIDATE_UTF8);
  for (const auto* name : {"table", "strikethrough", "autolink", "tasklist"}) {
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension(name));
  }
  return parser;
}

}  // namespace

MarkdownTree::MarkdownTree(std::string_view markdown)
    : parser_(nullptr, cmark_parser_free), root_(nullptr, cmark_node_free) {
  const std::lock_guard lock(parsing());
  parser_.reset(new_parser());
  cmark_parser_feed(parser_.get(), markdown.data(), markdown.size());
  root_.reset(cmark_parser_finish(parser_.get()));
  cmark_consolidate_text_nodes(root_.get());
}

std::string MarkdownTree::html() const {
  const std::unique_ptr<char, void (*)(void*)> text(
      cmark_render_html(root(), CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser_.get())), std::free);
  return text.get();
}

}  // namespace agw
