#pragma once

#include "api/request.hpp"
#include "server/mcp/message.hpp"

namespace agw {

/// Whether a message belongs to revision 2026-07-28, or to one that the gateway does not know: its `_meta` names a
/// revision, or the header `MCP-Protocol-Version` names none of those with a handshake.
bool is_modern_message(const Request& request, const McpMessage& message);

/// Checks what every request of 2026-07-28 must have, in `_meta` and in headers. Throws McpError -32602, -32020 or
/// -32022, each with status 400.
void check_modern_request(const Request& request, const McpMessage& message);

}  // namespace agw
