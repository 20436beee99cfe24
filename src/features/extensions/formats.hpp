#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// Why `text` does not have a `format` of our JSON Schemas, as the end of a sentence that begins with "must be". No
/// value if it has, or if the format only tells forms how to show the text.
std::optional<std::string> expected_format(std::string_view format, std::string_view text);

/// Whether `text` is a CSS colour: hexadecimal, a name, or a colour function. It cannot load anything or end the
/// declaration (`url(`, `;`, `}`).
bool is_css_color(std::string_view text);

}  // namespace agw
