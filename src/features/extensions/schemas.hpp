#pragma once

#include <string>

#include "features/extensions/types.hpp"

namespace agw {

/// The JSON Schema (draft 7) of the definitions of a type: share/schemas/<type>.json, with titles and descriptions to
/// make a form from. Read at the first call; lives as long as the process.
const json::object& definition_schema(ExtensionType type);

/// Adds what is wrong with `value` by `schema` to `problems`, each with the member's path, which begins with `path`,
/// and what would be right. Written for our own schemas, which use only the words that `is_schema_word` knows: a
/// general validator can tell that a member fails, but not in words for the person who sent it. Null counts as an
/// omitted member; members that the schema does not name are not looked at. Stops at `max_problems`.
void validate_by_schema(const json::object& schema, const json::value& value, const std::string& path,
                        Problems& problems);

inline constexpr std::size_t max_problems = 100;

/// Whether `validate_by_schema` heeds `word`, or `word` only describes.
bool is_schema_word(std::string_view word);

}  // namespace agw
