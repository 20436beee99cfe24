#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/route.hpp"
#include "base/async/task_group.hpp"
#include "server/mcp/api_caller.hpp"
#include "server/mcp/message.hpp"
#include "server/mcp/methods.hpp"
#include "server/mcp/session.hpp"

namespace agw {

class Router;
struct Settings;

/// The gateway as a server of the Model Context Protocol: `/mcp`, by Streamable HTTP. Clients of the revisions
/// 2024-11-05 to 2025-11-25 perform a handshake and get a session; requests of 2026-07-28 each name their revision and
/// have no session. Use it on the loop only.
class McpServer {
public:
  struct Options {
    std::size_t body_limit = 0;  ///< bytes
    std::string fixture_url{};   ///< see McpFixture; empty except in tests
  };
  McpServer(const McpServices& services, Options options);

  Routes routes();
  /// Sets the table of routes that become tools. Call it before the first request.
  void use(const Router& router) { api_.use(router); }
  void start();
  Task<> stop();

private:
  using Clock = std::chrono::steady_clock;

  /// A response without a stream.
  struct Reply {
    int status = 200;
    std::string body{};  ///< JSON, or empty
    Fields fields{};
  };
  /// A stream to be sent to a client.
  struct Delivery {
    std::shared_ptr<McpStream> stream{};
    McpClientSessionPointer session{};  ///< null: the events have no ids
    std::uint64_t after = 0;            ///< the number of the last message that the client has received
    bool takes_json = false;            ///< if the response is the first message, it is sent as JSON
    bool takes_events = true;
    bool is_general = false;  ///< the session's general stream: a later reader ends this one
  };

  Task<> post(Request& request, ProxyStream& http);
  Task<> listen(Request& request, ProxyStream& http);
  Task<> remove(Request& request, ProxyStream& http);

  Task<std::optional<Reply>> take(Request& request, ProxyStream& http, json::value value);
  Task<std::optional<Reply>> take_legacy(Request& request, ProxyStream& http, McpMessage message);
  Task<std::optional<Reply>> take_modern(Request& request, ProxyStream& http, McpMessage message);
  Task<Reply> take_batch(Request& request, json::array batch);
  Reply initialize(const McpMessage& message);
  McpClientSessionPointer session_of(const Request& request);
  static std::optional<Reply> take_other(const McpClientSessionPointer& session, McpMessage& message);
  McpExchangePointer legacy_exchange(const Request& request, const McpClientSessionPointer& session,
                                     McpMessage message);

  Task<> work(McpExchangePointer exchange);
  Task<> respond(McpExchangePointer exchange);
  static Delivery delivery_of(const Request& request, const McpExchangePointer& exchange);
  Task<> deliver(ProxyStream& http, Delivery delivery);
  static Task<bool> begin_events(ProxyStream& http, const Delivery& delivery);
  static Task<> send_events(ProxyStream& http, Delivery& delivery, const bool& gone);
  static Task<> watch_client(ProxyStream& http, std::shared_ptr<McpStream> stream, bool& gone);
  Task<std::string> read_body(ProxyStream& http) const;
  Task<json::value> parse(std::string body) const;
  Task<> sweep();

  const McpServices services_;
  const Options options_;
  ApiCaller api_;
  McpClientSessions sessions_;
  McpMethods methods_;
  std::vector<std::weak_ptr<McpExchange>> modern_;  ///< active requests without a session
  std::uint64_t streams_ = 0;
  StopSource stopping_;
  TaskGroup calls_;
  TaskGroup background_;
};

/// The options from the configuration and, for tests, the environment.
McpServer::Options mcp_options(const Settings& settings);

}  // namespace agw
