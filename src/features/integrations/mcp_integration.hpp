#pragma once

#include <memory>

#include "base/async/async_event.hpp"
#include "features/integrations/integration.hpp"
#include "features/integrations/session.hpp"

namespace agw {

/// An MCP server. A server that ends is restarted, with increasing delays if it fails immediately. Until then, its
/// tools stay offered, and calls wait for a limited time.
class McpIntegration : public Integration {
public:
  using MakeTransport = std::function<std::unique_ptr<McpTransport>()>;

  /// `host`: the host that calls reach, which the agent's limits must allow; empty if there is none. `closing` returns
  /// the time limit for closing a connection.
  McpIntegration(Loop& loop, IntegrationSettings settings, std::string host, MakeTransport transport,
                 std::function<std::chrono::milliseconds()> closing);
  ~McpIntegration() override;

  Task<> run(StopSource& stop) override;
  Task<ToolOutcome> call(std::string tool, const ToolCall& call) override;
  std::string problem() const override { return session_ ? "" : problem_; }

private:
  Task<bool> attempt(StopSource& stop);
  void leave_session();
  void offer_tools();

  Loop& loop_;
  std::string host_;
  MakeTransport make_transport_;
  std::function<std::chrono::milliseconds()> closing_;
  std::shared_ptr<McpSession> session_;  ///< null while disconnected
  AsyncEvent connected_;
  std::optional<McpEra> era_;
  int failures_ = 0;
  std::string problem_;  ///< why it is not connected
};

}  // namespace agw
