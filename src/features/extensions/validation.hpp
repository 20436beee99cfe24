#pragma once

#include "features/extensions/types.hpp"

namespace agw {

/// Whether `name` may be an extension's: kebab-case, at most 64 characters, not in the form of a UUID.
bool is_extension_name(std::string_view name);

/// Throws BadRequest `validation failed` with these as its `details`.
[[noreturn]] void fail_validation(const Problems& problems);

/// Whether a definition has to have the members that its type requires.
enum class RequiredMembers { checked, may_be_missing };

/// What is wrong with a definition of the type; paths begin with `definition`.
Problems validate_definition(ExtensionType type, const json::object& definition,
                             RequiredMembers required = RequiredMembers::checked);

/// What is wrong with a trigger; paths begin with `member`, the name that it was sent by.
Problems validate_trigger(const json::object& trigger, const std::string& member);

/// What a new extension is to be, from a request's body (or a tool's input, or a file in that form). Throws BadRequest:
/// about the name first, then about what is missing, then `validation failed` with all else as `details`.
NewExtension read_new_extension(json::object body);

/// The same for a change of an extension of that type.
ExtensionChange read_extension_change(const json::object& body, ExtensionType type,
                                      RequiredMembers required = RequiredMembers::checked);

}  // namespace agw
