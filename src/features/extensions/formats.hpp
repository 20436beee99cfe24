#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// What a text should be to have a `format` of our JSON Schemas, as the end of a sentence that begins with "must be";
/// nothing where it is that, or where the format only tells forms how to show the text.
std::optional<std::string> expected_format(std::string_view format, std::string_view text);

/// Whether `text` is a CSS colour: hexadecimal, a name, or a colour function. Nothing in it can load or end anything
/// (`url(`, `;`, `}`).
bool is_css_color(std::string_view text);

}  // namespace agw
