#include "base/text/markdown_tree.hpp"

#include <cstdlib>
#include <mutex>
#include <ranges>
#include <utility>
#include <vector>

#include "base/text/markdown_cost.hpp"

namespace agw {

namespace {

/// Serialises parsers, which modify tables shared by all of them.
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

/// The text as an indented code block. A single carriage return ends a line, too.
std::string as_code(std::string_view text) {
  std::string code = "    ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_return = text[i] == '\r';
    if (is_return && text.substr(i + 1).starts_with('\n')) continue;
    code += is_return ? '\n' : text[i];
    if (code.back() == '\n') code += "    ";
  }
  return code;
}

bool is_link_or_image(cmark_node* node) {
  return cmark_node_get_type(node) == CMARK_NODE_LINK || cmark_node_get_type(node) == CMARK_NODE_IMAGE;
}

void feed(cmark_parser* parser, std::string_view markdown) {
  cmark_parser_feed(parser, markdown.data(), markdown.size());
}

}  // namespace

MarkdownTree::MarkdownTree(std::string_view markdown)
    : parser_(nullptr, cmark_parser_free), root_(nullptr, cmark_node_free) {
  const std::lock_guard lock(parsing());
  parser_.reset(new_parser());
  feed(parser_.get(), is_costly_markdown(markdown) ? as_code(markdown) : markdown);
  root_.reset(cmark_parser_finish(parser_.get()));
  cmark_consolidate_text_nodes(root_.get());
}

std::string MarkdownTree::html() const {
  const std::unique_ptr<char, void (*)(void*)> text(
      cmark_render_html(root(), CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser_.get())), std::free);
  return text.get();
}

void MarkdownTree::show_raw_html() {
  std::vector<cmark_node*> raw;
  const auto collect = [&](cmark_node* node) {
    const auto type = cmark_node_get_type(node);
    if (type == CMARK_NODE_HTML_INLINE || type == CMARK_NODE_HTML_BLOCK) raw.push_back(node);
  };
  walk(collect, [](cmark_node*) {});
  for (auto* node : raw) {
    auto* shown = cmark_node_new(CMARK_NODE_TEXT);
    cmark_node_set_literal(shown, std::string(literal_of(node)).c_str());
    if (cmark_node_get_type(node) == CMARK_NODE_HTML_BLOCK) {
      auto* paragraph = cmark_node_new(CMARK_NODE_PARAGRAPH);
      cmark_node_append_child(paragraph, shown);
      shown = paragraph;
    }
    cmark_node_replace(node, shown);
    cmark_node_free(node);
  }
}

void MarkdownTree::link_images() {
  std::vector<std::pair<cmark_node*, bool>> images;  // and whether each is in a link, which cannot contain another
  int around = 0;
  walk(
      [&](cmark_node* node) {
        if (cmark_node_get_type(node) == CMARK_NODE_IMAGE) images.emplace_back(node, around > 0);
        around += is_link_or_image(node) ? 1 : 0;
      },
      [&](cmark_node* node) { around -= is_link_or_image(node) ? 1 : 0; });
  for (const auto& [image, is_in_link] : images | std::views::reverse) {
    if (!cmark_node_first_child(image)) {
      auto* text = cmark_node_new(CMARK_NODE_TEXT);
      cmark_node_set_literal(text, cmark_node_get_url(image));
      cmark_node_append_child(image, text);
    }
    auto* link = is_in_link ? nullptr : cmark_node_new(CMARK_NODE_LINK);
    if (link) {
      cmark_node_set_url(link, cmark_node_get_url(image));
      cmark_node_insert_before(image, link);
    }
    while (auto* child = cmark_node_first_child(image))
      link ? cmark_node_append_child(link, child) : cmark_node_insert_before(image, child);
    cmark_node_free(image);
  }
}

}  // namespace agw
