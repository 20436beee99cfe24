// Converts Markdown to safe HTML. The allow-list is applied to the parsed tree, not to the rendered output.

#include <algorithm>
#include <unordered_set>

#include <boost/algorithm/string.hpp>

#include "base/text/markdown_tree.hpp"
#include "features/knowledge/markdown.hpp"
#include "features/knowledge/wiki_links.hpp"

namespace agw {

namespace {

bool is_control_or_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; }

/// Whether the address has one of the few schemes that cannot run code. Browsers ignore whitespace and control
/// characters in a scheme, so no address may contain any.
bool is_harmless(std::string_view address) {
  if (std::ranges::any_of(address, is_control_or_blank)) return false;
  return std::ranges::any_of(std::initializer_list<std::string_view>{"http://", "https://", "mailto:"},
                             [&](std::string_view scheme) { return boost::istarts_with(address, scheme); });
}

class Purifier {
public:
  Purifier(MarkdownTree& tree, const FindLinkPlace& find) : tree_(tree), find_(find) {}

  void purify() {
    // Collected first, because changing nodes would invalidate the iterator.
    std::vector<cmark_node*> nodes;
    int links = 0;
    tree_.walk(
        [&](cmark_node* node) {
          const auto type = cmark_node_get_type(node);
          const bool is_image_of_link = type == CMARK_NODE_IMAGE && links > 0;
          if (is_image_of_link) inner_images_.insert(node);
          if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE) ++links;
          if (type != CMARK_NODE_TEXT || links == 0) nodes.push_back(node);
        },
        [&](cmark_node* node) {
          const auto type = cmark_node_get_type(node);
          if (type == CMARK_NODE_LINK || type == CMARK_NODE_IMAGE) --links;
        });
    // Backwards, so that inner nodes are processed before outer ones.
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) purify(*node);
  }

private:
  void purify(cmark_node* node) {
    const auto type = cmark_node_get_type(node);
    if (type == CMARK_NODE_HTML_INLINE && is_placeholder(literal_of(node))) {
      cmark_node_insert_before(node, new_text(literal_of(node)));
    }
    if (type == CMARK_NODE_HTML_BLOCK || type == CMARK_NODE_HTML_INLINE || type == CMARK_NODE_CUSTOM_BLOCK ||
        type == CMARK_NODE_CUSTOM_INLINE) {
      return remove(node);
    }
    if (type == CMARK_NODE_TEXT) return set_wiki_links(node);
    if (type == CMARK_NODE_LINK) return judge_link(node);
    if (type == CMARK_NODE_IMAGE) judge_image(node);
  }

  void judge_link(cmark_node* node) {
    const auto address = address_of(node);
    if (is_harmless(address)) return;
    const auto file = linked_file(address);
    const auto place = file.empty() ? std::nullopt : find_(file);
    if (!place) return unwrap(node);
    cmark_node_set_url(node, place->address.c_str());
  }

  void judge_image(cmark_node* node) {
    if (inner_images_.contains(node) || !is_harmless(address_of(node))) return unwrap(node);
    auto* link = new_link(std::string(address_of(node)));
    cmark_node_insert_before(node, link);
    while (auto* child = cmark_node_first_child(node)) cmark_node_append_child(link, child);
    if (!cmark_node_first_child(link)) cmark_node_append_child(link, new_text(address_of(node)));
    remove(node);
  }

  /// Replaces `[[…]]` with links.
  void set_wiki_links(cmark_node* node) {
    const std::string text(literal_of(node));
    const auto links = wiki_links_of(text);
    if (links.empty()) return;
    std::size_t end = 0;
    for (const auto& link : links) {
      if (link.begin > end)
        cmark_node_insert_before(node, new_text(std::string_view(text).substr(end, link.begin - end)));
      insert_wiki_link(node, link);
      end = link.end;
    }
    if (end < text.size()) cmark_node_insert_before(node, new_text(std::string_view(text).substr(end)));
    remove(node);
  }

  void insert_wiki_link(cmark_node* before, const WikiLink& link) {
    const auto place = find_(link.target);
    const auto shown = !link.label.empty() ? link.label : place ? std::string_view(place->text) : link.target;
    auto* made = new_text(shown);
    if (place) {
      auto* around = new_link(place->address);
      cmark_node_append_child(around, made);
      made = around;
    }
    cmark_node_insert_before(before, made);
  }

  void unwrap(cmark_node* node) {
    while (auto* child = cmark_node_first_child(node)) cmark_node_insert_before(node, child);
    remove(node);
  }

  void remove(cmark_node* node) { cmark_node_free(node); }

  cmark_node* new_text(std::string_view text) {
    auto* node = cmark_node_new(CMARK_NODE_TEXT);
    cmark_node_set_literal(node, std::string(text).c_str());
    return node;
  }

  cmark_node* new_link(const std::string& address) {
    auto* node = cmark_node_new(CMARK_NODE_LINK);
    cmark_node_set_url(node, address.c_str());
    return node;
  }

  MarkdownTree& tree_;
  const FindLinkPlace& find_;
  std::unordered_set<cmark_node*> inner_images_;  ///< images inside links
};

}  // namespace

std::string safe_html(std::string_view markdown, const FindLinkPlace& find) {
  MarkdownTree tree(markdown);
  Purifier(tree, find).purify();
  return tree.html();
}

}  // namespace agw
