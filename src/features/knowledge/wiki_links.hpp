#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agw {

/// A `[[target#section|label]]` in a text.
struct WikiLink {
  std::size_t begin = 0;  ///< in bytes
  std::size_t end = 0;
  std::string_view target;  ///< without the section; views into the text
  std::string_view label;   ///< empty if there is none
};

/// The wiki links in a text, in order.
std::vector<WikiLink> wiki_links_of(std::string_view text);

/// The name of the Markdown file that a relative address refers to (`setup` for `../setup.md#install`); empty for any
/// other address.
std::string linked_file(std::string_view address);

}  // namespace agw
