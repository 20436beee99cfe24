#pragma once

#include <memory>

#include "base/async/async_event.hpp"
#include "features/integrations/integration.hpp"
#include "features/integrations/session.hpp"

namespace agw {

/// An MCP server. One that dies is started anew, with growing pauses where it dies at once; meanwhile its tools stay
/// offered and calls wait a little.
class McpIntegration : public Integration {
public:
  using MakeTransport = std::function<std::unique_ptr<McpTransport>()>;

  /// `host`: which host is called, for what agents may reach; empty where there is none. `closing`: how long a server
  /// may take to end.
  McpIntegration(Loop& loop, IntegrationSettings settings, std::string host, MakeTransport transport,
                 std::function<std::chrono::milliseconds()> closing);
  ~McpIntegration() override;

  Task<> live(StopSource& stop) override;
  Task<ToolOutcome> call(std::string tool, const ToolCall& call) override;

private:
  Task<> attempt(StopSource& stop);
  void leave_session();
  void offer_tools();

  Loop& loop_;
  std::string host_;
  MakeTransport make_transport_;
  std::function<std::chrono::milliseconds()> closing_;
  std::shared_ptr<McpSession> session_;  ///< null while it is not connected
  AsyncEvent connected_;
  std::optional<McpEra> era_;
  int failures_ = 0;
  std::string problem_;  ///< why it is not connected
};

}  // namespace agw
