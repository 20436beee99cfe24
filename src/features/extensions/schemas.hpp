#pragma once

#include <string>

#include "features/extensions/types.hpp"

namespace agw {

/// The JSON Schema (draft 7) of the definitions of a type: share/schemas/<type>.json, with titles and descriptions for
/// forms. Read at the first call; valid until the process ends.
const json::object& definition_schema(ExtensionType type);

/// Adds to `problems` how `value` violates `schema`: each with the member's path, which begins with `path`, and what is
/// expected. Written for our own schemas, which use only the keywords that `is_schema_word` accepts: messages of
/// general validators do not help the person who sent the value. Null counts as an omitted member; members that the
/// schema does not name are ignored. Stops at `max_problems`.
void validate_by_schema(const json::object& schema, const json::value& value, const std::string& path,
                        Problems& problems);

inline constexpr std::size_t max_problems = 100;

/// Whether `validate_by_schema` supports the keyword `word`, or `word` is only an annotation.
bool is_schema_word(std::string_view word);

}  // namespace agw
