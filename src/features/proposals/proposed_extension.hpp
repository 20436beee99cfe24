#pragma once

#include <string>

#include "base/async/task.hpp"
#include "features/extensions/service.hpp"
#include "features/proposals/targets.hpp"

namespace agw {

/// The record with the target's name and, if the target specifies one, its type; null if there is none.
ExtensionPointer record_of_target(const Extensions& extensions, const TargetExtension& target);

/// The record as flat text, in the form of a proposal for it: the content of `extensions/<name>.yaml`.
std::string text_of_extension(const Extension& record);

/// Throws BadRequest `validation failed` for a text that is not a YAML map. Blocks.
void check_extension_text(const std::string& text);

/// Creates or changes the record according to a proposal's text. A new record has the source `agent`, is owned by the
/// agent with that id or name, and is disabled unless the text enables it. Idempotent. Returns the record. Throws
/// BadRequest `validation failed`, and what Extensions throws.
Task<ExtensionPointer> apply_to_extension(Extensions& extensions, TargetExtension target, std::string text,
                                          std::string agent);

}  // namespace agw
