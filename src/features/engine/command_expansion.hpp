#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

class Extensions;

/// What a message that begins with a command asks for.
struct ExpandedCommand {
  std::string text;                     ///< what the model reads
  std::optional<std::string> agent_id;  ///< who answers: an id or a name
  std::optional<std::string> mode;
  std::optional<std::string> model;
};

/// Expands a message that begins with the `/name` of an enabled command: in the command's prompt `$ARGUMENTS` stands
/// for all that was typed behind the name, `$1`, `$2` and so on for the single words of it, and what was typed is not
/// looked into again. Nothing for any other message, which is plain text. Throws PayloadTooLarge where it would be over
/// 10 MiB.
std::optional<ExpandedCommand> expand_command(std::string_view message, const Extensions& extensions);

}  // namespace agw
