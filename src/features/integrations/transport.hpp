#pragma once

#include <functional>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "features/integrations/rpc.hpp"

namespace agw {

/// How a session speaks to its server.
enum class McpEra {
  legacy,  ///< 2024-11-05 to 2025-11-25: a handshake, then a session
  modern,  ///< 2026-07-28: every request stands for itself
};

/// Carries JSON-RPC messages to one server and back. Any number of requests may be under way. Once it is dead, every
/// request fails at once. On the loop.
class McpTransport {
public:
  using OnNotice = std::function<void(const RpcMessage& notification)>;

  virtual ~McpTransport() = default;

  /// Makes it ready. Returns why it cannot be, for people; empty where it is.
  virtual Task<std::string> open(StopSource& stop) = 0;
  /// Asks and waits for the answer. A request that is stopped or takes too long is cancelled at the server.
  virtual Task<RpcResponse> ask(RpcRequest request, StopSource& stop) = 0;
  virtual Task<> notify(std::string method, json::object params) = 0;
  /// What later messages say of the protocol.
  virtual void speak(McpEra era, std::string version) = 0;
  /// From now on the server may send notifications without being asked, where it has another way for them.
  virtual void listen() {}
  /// Waits until it is dead, and says why.
  virtual Task<std::string> dead() = 0;
  /// Ends it in good order, within `limit`. Await it before it dies.
  virtual Task<> close(std::chrono::milliseconds limit) = 0;

  void on_notice(OnNotice handler) { on_notice_ = std::move(handler); }
  /// Told what the server asks; false: it is answered with `rpc_reply`.
  using OnRequest = std::function<bool(const RpcMessage& request)>;
  void on_request(OnRequest handler) { on_request_ = std::move(handler); }
  /// Sends the answer to what the server has asked.
  virtual void respond(json::object reply) = 0;

protected:
  /// What requests under way are told when this is closed before it dies.
  static constexpr auto closed_here = "its connection was closed: the integration was changed, disabled or deleted";

  OnNotice on_notice_ = [](const RpcMessage&) {};
  OnRequest on_request_ = [](const RpcMessage&) { return false; };
};

}  // namespace agw
