#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.hpp"
#include "io/http/http_client.hpp"
#include "server/mcp/session.hpp"

namespace agw {

/// Tools, prompts and resources for tests, such as those required by the MCP conformance suite. An HTTP server of the
/// tests provides their results, progress and requests. Inactive without its address, which only tests set.
class McpFixture {
public:
  using ListChanged = std::function<void(std::string_view what)>;
  McpFixture(HttpClient& http, std::string url, ListChanged list_changed);

  bool is_present() const { return !url_.empty(); }
  /// Adds the fixture's entries to a list: `tools` to the result of `tools/list`.
  Task<> extend(McpExchangePointer exchange, std::string member, json::object& result);
  /// The result of a request; nullopt if it was cancelled. Throws McpError.
  Task<std::optional<json::object>> answer(McpExchangePointer exchange);
  void stop() { waiting_.clear(); }

private:
  static constexpr std::size_t max_waiting = 100;

  Task<json::object> ask(McpExchangePointer exchange, json::object inputs, json::value state);
  json::object input_required(const McpExchange& exchange, json::object requests, json::value state);
  Task<json::object> inputs_from(McpExchangePointer exchange, json::object requests);
  json::value state_of(const McpExchange& exchange);

  HttpClient& http_;
  const std::string url_;
  const ListChanged list_changed_;
  struct WaitingState {
    std::string request;
    json::value state;
  };
  std::map<std::string, WaitingState, std::less<>> waiting_;  ///< by `requestState`
};

}  // namespace agw
