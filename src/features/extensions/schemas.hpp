#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "features/extensions/types.hpp"

namespace agw {

/// The JSON Schema (draft 7) of the definitions of a type: share/schemas/<type>.json, with titles and descriptions for
/// forms. Read at the first call; valid until the process ends.
const json::object& definition_schema(ExtensionType type);

/// Adds each violation of `schema` by `value` to `problems`, with the member's path, which begins with `path`, and the
/// expected value. Supports only the keywords that `is_schema_word` accepts, which are those of our own schemas; it
/// exists because messages of general validators do not help the sender. Null counts as an omitted member; members that
/// the schema does not name are ignored. Stops at `max_problems`.
void validate_by_schema(const json::object& schema, const json::value& value, const std::string& path,
                        Problems& problems);

inline constexpr std::size_t max_problems = 100;

/// Whether `validate_by_schema` supports the keyword `word`, or `word` is only an annotation.
bool is_schema_word(std::string_view word);

/// The text that `format` requires, as the end of a sentence that begins with "must be". No value if `text` is valid,
/// or if `format` only affects how forms show the text.
std::optional<std::string> expected_format(std::string_view format, std::string_view text);

/// Whether `text` is a CSS colour: hexadecimal, a name, or a colour function. Rejects text that could load something or
/// end the declaration (`url(`, `;`, `}`).
bool is_css_color(std::string_view text);

}  // namespace agw
