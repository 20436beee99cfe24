#pragma once

#include <string_view>
#include <vector>

#include "features/client_api/types.hpp"

namespace agw {

// Instructions that programs add to a conversation: messages with the role `system` or `developer`. Those before the
// first other message form the system prompt. Later ones stay where they are, because the service has cached what
// precedes them: https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages

/// Reads the next message of the conversation, if it is an instruction. Blank text is ignored.
void add_instructions(ModelRequest& call, std::string_view text);

/// Moves instructions between a tool call and its results behind the results, and joins consecutive ones. Services
/// accept nothing between calls and results.
std::vector<Message> with_instructions_after_results(std::vector<Message> messages);

/// Moves all instructions to the system prompt, for agents, whose threads have a system prompt of their own.
void join_instructions(ClientRequest& request);

}  // namespace agw
