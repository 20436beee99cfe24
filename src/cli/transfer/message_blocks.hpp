#pragma once

#include "base/json/json.hpp"
#include "cli/transfer/conversation.hpp"

namespace agw::cli {

/// Reads blocks of a message as in the APIs of Anthropic and OpenAI into the message: texts, `thinking`, `tool_use` and
/// `tool_result`. A picture or document that is not in the block itself becomes a line that says so.
void read_blocks(const json::array& blocks, SourceMessage& message);

}  // namespace agw::cli
