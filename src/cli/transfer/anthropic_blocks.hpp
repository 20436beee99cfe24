#pragma once

#include "base/json/json.hpp"
#include "cli/transfer/conversation.hpp"

namespace agw::cli {

/// Reads blocks of a message as in Anthropic's Messages API into the message: `text`, `thinking`, `tool_use` and
/// `tool_result`; a picture or file becomes a line that says so.
void read_blocks(const json::array& blocks, SourceMessage& message);

}  // namespace agw::cli
