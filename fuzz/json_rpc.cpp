// JSON-RPC messages of MCP servers and of the gateway's own MCP clients, and results of tools: each is rejected, or a
// message with all members that its kind requires.

#include "base/json/json.hpp"
#include "features/integrations/results.hpp"
#include "features/integrations/rpc.hpp"
#include "fuzz/support/fuzzing.hpp"
#include "fuzz/support/json_mutator.hpp"
#include "server/mcp/message.hpp"

using agw::fuzzing::require;

namespace {

/// Reads a message of an MCP server to an integration.
void read_as_client(std::string_view text) {
  const auto message = agw::read_rpc(text);
  using Kind = agw::RpcMessage::Kind;
  if (message.kind == Kind::request) {
    require(!message.method.empty());
    require(agw::rpc_reply(message).contains("id"));
  }
  if (message.kind != Kind::response || message.error) return;
  agw::needs_input(message.result);
  const auto outcome = agw::tool_outcome(message.result);
  require(agw::is_utf8(outcome.output) && outcome.output.size() <= 4 * agw::max_result_characters + 1000);
}

/// Reads a message of a client to the gateway's MCP server.
void read_as_server(std::string_view text) {
  auto value = agw::parse_json(text);
  if (!value) return;
  agw::json::value id;
  try {
    const auto message = agw::read_mcp_message(*value, id);
    require(message.kind == agw::McpMessage::Kind::response || !message.method.empty());
    require(agw::parse_json(agw::mcp_result(message.id, message.params), {.max_depth = agw::max_own_json_depth})
                .has_value());
  } catch (const agw::McpError& error) {
    require(agw::parse_json(agw::mcp_error(id, error), {.max_depth = agw::max_own_json_depth}).has_value());
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return agw::fuzzing::mutate_json(data, size, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_as_client(agw::fuzzing::text_of(data, size));
  read_as_server(agw::fuzzing::text_of(data, size));
  return 0;
}
