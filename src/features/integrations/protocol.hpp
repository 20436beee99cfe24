#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/json/json.hpp"

// The constants of the Model Context Protocol and JSON-RPC 2.0, for both ends: integrations, which are clients, and
// the gateway's own server.

namespace agw {

/// The revision without sessions: every request names it.
inline constexpr std::string_view mcp_modern_version = "2026-07-28";
/// The revisions with a handshake, newest first.
inline constexpr std::array<std::string_view, 4> mcp_legacy_versions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                                     "2024-11-05"};
/// Members of `_meta`.
inline constexpr std::string_view mcp_version_key = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view mcp_client_key = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view mcp_client_capabilities_key = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view mcp_server_key = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view mcp_log_level_key = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view mcp_subscription_key = "io.modelcontextprotocol/subscriptionId";

/// Error codes: those of JSON-RPC, then those of MCP.
namespace rpc_code {
inline constexpr std::int64_t parse_error = -32700;
inline constexpr std::int64_t invalid_request = -32600;
inline constexpr std::int64_t method_not_found = -32601;
inline constexpr std::int64_t invalid_params = -32602;
inline constexpr std::int64_t internal_error = -32603;
inline constexpr std::int64_t resource_not_found = -32002;  ///< of the revisions with a handshake
inline constexpr std::int64_t header_mismatch = -32020;
inline constexpr std::int64_t missing_capability = -32021;
inline constexpr std::int64_t unsupported_version = -32022;
}  // namespace rpc_code

/// The gateway's name and version for its peers.
inline json::object mcp_implementation() {
  return {{"name", "agent-gateway"}, {"title", "Agent Gateway"}, {"version", AGW_VERSION}};
}

}  // namespace agw
