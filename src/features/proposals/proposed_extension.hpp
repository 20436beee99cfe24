#pragma once

#include <string>

#include "base/task.hpp"
#include "features/extensions/service.hpp"
#include "features/proposals/targets.hpp"

namespace agw {

/// The record of the target's name, and of its type where it has one; null where there is none.
ExtensionPointer record_of_target(const Extensions& extensions, const TargetExtension& target);

/// The record as a flat text, in the form that a proposal for it has: what `extensions/<name>.yaml` stands for.
std::string text_of_extension(const Extension& record);

/// Throws BadRequest `validation failed` for a text that is no YAML map.
void check_extension_text(const std::string& text);

/// Makes the record what a proposal's text says, or makes it: then of source `agent`, owned by the agent of that id or
/// name, and disabled unless the text says otherwise. Throws BadRequest `validation failed` and what Extensions throws.
/// Doing it again changes nothing more. Answers the record.
Task<ExtensionPointer> apply_to_extension(Extensions& extensions, TargetExtension target, std::string text,
                                          std::string agent);

}  // namespace agw
