#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "features/integrations/rpc.hpp"

namespace agw {

class PendingRequests;

/// The family of protocol revisions that a session uses.
enum class McpEra {
  legacy,  ///< 2024-11-05 to 2025-11-25: a handshake, then a session
  modern,  ///< 2026-07-28: every request is self-contained
};

/// Transports JSON-RPC messages to one server and back. Any number of requests may be active. Once the transport has
/// failed, all requests fail immediately. Used on the loop.
class McpTransport {
public:
  using OnNotice = std::function<void(const RpcMessage& notification)>;

  virtual ~McpTransport() = default;

  /// Prepares the transport. Returns why that failed; empty on success.
  virtual Task<std::string> open(StopSource& stop) = 0;
  /// Sends a request and waits for the response. If it is stopped or times out, notifies the server of the
  /// cancellation.
  virtual Task<RpcResponse> send_request(RpcRequest request, StopSource& stop) = 0;
  /// Whether a request's headers are sent. Only HTTP has any.
  virtual bool sends_headers() const { return false; }
  virtual Task<> notify(std::string method, json::object params) = 0;
  /// Sets the protocol version of later messages.
  virtual void set_protocol(McpEra era, std::string version) = 0;
  /// Opens a separate channel for the server's own messages, if the transport needs one.
  virtual void listen() {}
  /// Waits until the transport has failed or was closed. Returns the reason.
  virtual Task<std::string> wait_for_failure() = 0;
  /// The transport of older servers at the same place, to use if the server refuses `initialize`. Null if there is
  /// none.
  virtual std::unique_ptr<McpTransport> older() const { return nullptr; }
  /// Shuts down cleanly within `limit`. Await it before destruction.
  virtual Task<> close(std::chrono::milliseconds limit) = 0;

  void on_notice(OnNotice handler) { on_notice_ = std::move(handler); }
  /// Handles a request of the server; returns false to let `rpc_reply` respond.
  using OnRequest = std::function<bool(const RpcMessage& request)>;
  void on_request(OnRequest handler) { on_request_ = std::move(handler); }
  /// Sends the response to a request of the server.
  virtual void respond(json::object reply) = 0;

protected:
  /// Passes a message of the server on: requests and notifications to the handlers, responses to `pending`.
  void pass_on(const RpcMessage& message, PendingRequests& pending);

  /// A server that sends requests faster than it takes the responses gets no response to some of them.
  static constexpr std::size_t max_background_messages = 32;

  /// The problem of requests that are active when the transport is closed without a failure.
  static constexpr auto closed_here = "its connection was closed: the integration was changed, disabled or deleted";

  OnNotice on_notice_ = [](const RpcMessage&) {};
  OnRequest on_request_ = [](const RpcMessage&) { return false; };
};

}  // namespace agw
