#pragma once

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// A parsed text, as nodes of the library.
class MarkdownTree {
public:
  explicit MarkdownTree(std::string_view markdown);

  cmark_node* root() const { return root_.get(); }
  /// As it is now, raw HTML and suspicious addresses left out in any case.
  std::string html() const;

  /// Calls `enter` and `leave` with each node, in the order of the text. The tree must not change meanwhile.
  template <class Enter, class Leave>
  void walk(Enter enter, Leave leave) const {
    const std::unique_ptr<cmark_iter, void (*)(cmark_iter*)> place(cmark_iter_new(root()), cmark_iter_free);
    for (;;) {
      const auto event = cmark_iter_next(place.get());
      if (event == CMARK_EVENT_DONE) return;
      event == CMARK_EVENT_ENTER ? enter(cmark_iter_get_node(place.get())) : leave(cmark_iter_get_node(place.get()));
    }
  }

private:
  std::unique_ptr<cmark_parser, void (*)(cmark_parser*)> parser_;  ///< owns what its extensions need
  std::unique_ptr<cmark_node, void (*)(cmark_node*)> root_;
};

/// A `[[target#section|label]]` in a text.
struct WikiLink {
  std::size_t begin = 0;  ///< in bytes
  std::size_t end = 0;
  std::string_view target;  ///< without the section; views into the text
  std::string_view label;   ///< empty without one
};

/// Those of a text, in its order.
std::vector<WikiLink> wiki_links_of(std::string_view text);

/// The name of the Markdown file that a relative address leads to (`../setup.md#install` is `setup`); empty for any
/// other address.
std::string linked_file(std::string_view address);

/// What a node holds; empty where it holds nothing.
inline std::string_view literal_of(cmark_node* node) {
  const char* text = cmark_node_get_literal(node);
  return text ? text : std::string_view();
}
/// Where a link or an image leads; empty where it leads nowhere.
inline std::string_view address_of(cmark_node* node) {
  const char* text = cmark_node_get_url(node);
  return text ? text : std::string_view();
}

}  // namespace agw
