#pragma once

#include <string_view>

namespace agw {

/// Whether what looks like a tag is text: `<upstream>` in `git rebase <upstream>` names no element of HTML, SVG or
/// MathML that browsers know, and has no attributes.
bool is_placeholder(std::string_view tag);

}  // namespace agw
