#pragma once

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include <memory>
#include <string>
#include <string_view>

namespace agw {

/// A parsed Markdown text, as nodes of cmark-gfm. A text that is too costly to parse is a single block of code.
class MarkdownTree {
public:
  explicit MarkdownTree(std::string_view markdown);

  cmark_node* root() const { return root_.get(); }
  /// Renders the tree in its current state, always without raw HTML and unsafe addresses.
  std::string html() const;
  /// Replaces raw HTML by its source as text, such as `<String>` in `List<String>`; `html` would omit it.
  void show_raw_html();
  /// Replaces images by links to them: programs load an image when they show it, which tells its server what is in its
  /// address.
  void link_images();

  /// Calls `enter` and `leave` for each node, in document order. They must not change the tree.
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
  std::unique_ptr<cmark_parser, void (*)(cmark_parser*)> parser_;  ///< owns memory that the tree refers to
  std::unique_ptr<cmark_node, void (*)(cmark_node*)> root_;
};

/// The literal text of a node; empty if it has none.
inline std::string_view literal_of(cmark_node* node) {
  const char* text = cmark_node_get_literal(node);
  return text ? text : std::string_view();
}
/// The address of a link or an image; empty if it has none.
inline std::string_view address_of(cmark_node* node) {
  const char* text = cmark_node_get_url(node);
  return text ? text : std::string_view();
}

}  // namespace agw
