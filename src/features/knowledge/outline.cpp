#include <boost/algorithm/string.hpp>

#include "base/containers.hpp"
#include "base/text/markdown_tree.hpp"
#include "features/knowledge/markdown.hpp"
#include "features/knowledge/wiki_links.hpp"

namespace agw {

namespace {

/// Bounds the work for a page that consists mostly of links.
constexpr std::size_t max_links = 1000;

void add_once(std::vector<std::string>& list, std::string_view text) {
  if (text.empty() || list.size() == max_links) return;
  if (!contains(list, text)) list.emplace_back(text);
}

bool is_block(cmark_node* node) { return (cmark_node_get_type(node) & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_BLOCK; }

class Reader {
public:
  MarkdownOutline read(const MarkdownTree& tree) {
    tree.walk([this](cmark_node* node) { enter(node); }, [this](cmark_node* node) { leave(node); });
    boost::trim_right(outline_.plain_text);
    return std::move(outline_);
  }

private:
  void enter(cmark_node* node) {
    const auto type = cmark_node_get_type(node);
    if (type == CMARK_NODE_HEADING || type == CMARK_NODE_PARAGRAPH) begin_ = outline_.plain_text.size();
    if (type == CMARK_NODE_LINK) add_once(outline_.file_links, linked_file(address_of(node)));
    const bool is_placed = type == CMARK_NODE_HTML_INLINE && is_placeholder(literal_of(node));
    if (type == CMARK_NODE_TEXT) {
      read_text(literal_of(node));
    } else if (type == CMARK_NODE_CODE || type == CMARK_NODE_CODE_BLOCK || is_placed) {
      outline_.plain_text += literal_of(node);
    } else if (type == CMARK_NODE_SOFTBREAK || type == CMARK_NODE_LINEBREAK) {
      outline_.plain_text += ' ';
    }
    // The traversal calls no `leave` for leaf nodes.
    if (type == CMARK_NODE_CODE_BLOCK) end_block();
  }

  /// A wiki link contributes its visible text.
  void read_text(std::string_view text) {
    std::size_t place = 0;
    for (const auto& link : wiki_links_of(text)) {
      add_once(outline_.wiki_links, link.target);
      outline_.plain_text += text.substr(place, link.begin - place);
      outline_.plain_text += link.label.empty() ? link.target : link.label;
      place = link.end;
    }
    outline_.plain_text += text.substr(place);
  }

  void leave(cmark_node* node) {
    const auto type = cmark_node_get_type(node);
    if (type == CMARK_NODE_HEADING) end_heading(cmark_node_get_heading_level(node));
    if (type == CMARK_NODE_PARAGRAPH && outline_.first_paragraph.empty()) outline_.first_paragraph = text_since_begin();
    if (is_block(node)) end_block();
  }

  void end_heading(int level) {
    auto text = text_since_begin();
    if (text.empty()) return;
    if (outline_.title.empty() && level == 1) outline_.title = text;
    outline_.headings.push_back(std::move(text));
  }

  std::string text_since_begin() const { return boost::trim_copy(outline_.plain_text.substr(begin_)); }

  void end_block() {
    if (!outline_.plain_text.empty() && !outline_.plain_text.ends_with('\n')) outline_.plain_text += '\n';
  }

  MarkdownOutline outline_;
  std::size_t begin_ = 0;  ///< start of the current heading or paragraph
};

}  // namespace

MarkdownOutline outline_of(std::string_view markdown) { return Reader().read(MarkdownTree(markdown)); }

}  // namespace agw
