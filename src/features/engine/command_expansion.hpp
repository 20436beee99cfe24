#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace agw {

class Extensions;

/// The expansion of a message that begins with a command.
struct ExpandedCommand {
  std::string text;                     ///< for the model
  std::optional<std::string> agent_id;  ///< id or name of the agent to answer
  std::optional<std::string> mode;
  std::optional<std::string> model;
};

/// Expands a message that begins with the `/name` of an enabled command. In the command's prompt, `$ARGUMENTS` is
/// replaced by the text after the name and `$1`, `$2` and so on by its words; placeholders in that text are not
/// expanded. If the prompt has no placeholder, the text follows it after an empty line. Returns no value for any other
/// message. Throws PayloadTooLarge if the result is over 10 MiB.
std::optional<ExpandedCommand> expand_command(std::string_view message, const Extensions& extensions);

}  // namespace agw
