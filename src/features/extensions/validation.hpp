#pragma once

#include "features/extensions/types.hpp"

namespace agw {

/// Whether `name` is valid for an extension: kebab-case, at most 64 characters, not in the form of a UUID.
bool is_extension_name(std::string_view name);

/// Throws BadRequest `validation failed` with `problems` as its `details`.
[[noreturn]] void fail_validation(const Problems& problems);

/// Whether a definition must have all members that its type requires.
enum class RequiredMembers { checked, may_be_missing };

/// Whether the definition of an integration is that of a channel, a messenger in which people talk to an agent: its
/// `kind` is `channel`.
bool is_channel(const json::object& definition);

/// The errors in the definition of a channel that its JSON Schema cannot express.
Problems validate_channel(const json::object& definition);

/// The errors in a definition of the type; paths begin with `definition`.
Problems validate_definition(ExtensionType type, const json::object& definition,
                             RequiredMembers required = RequiredMembers::checked);

/// The errors in a trigger; paths begin with `member`, the name of the trigger in the request.
Problems validate_trigger(const json::object& trigger, const std::string& member);

/// Reads a new extension from a request's body, or from a tool's input or a file in that form. Throws BadRequest: for
/// an invalid name first, then for missing members, then `validation failed` with all other errors in `details`.
NewExtension read_new_extension(json::object body);

/// Reads a change of an extension of that type, with the same errors.
ExtensionChange read_extension_change(const json::object& body, ExtensionType type,
                                      RequiredMembers required = RequiredMembers::checked);

/// Throws BadRequest `validation failed` if the change would give a model service the name of the gateway's own model.
void check_service_name(const Extension& current, const ExtensionChange& change);

}  // namespace agw
