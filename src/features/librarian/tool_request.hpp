#pragma once

#include <optional>
#include <string_view>

#include "models/model.hpp"

namespace agw {

/// The tool call that a message plainly asks for, such as `read notes.md`, `grep otters in src`, `list jobs`; no value
/// for any other message. The call has no id.
std::optional<ToolUse> read_tool_request(std::string_view message);

}  // namespace agw
