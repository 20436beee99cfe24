#pragma once

#include <string_view>

namespace agw {

/// Whether something that looks like a tag is text. `<upstream>` in `git rebase <upstream>` is: it has no attributes
/// and is no element of HTML, SVG or MathML.
bool is_placeholder(std::string_view tag);

}  // namespace agw
