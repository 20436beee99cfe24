#pragma once

#include <string>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/integrations/http_transport.hpp"
#include "features/integrations/pending.hpp"
#include "models/frames.hpp"

namespace agw {

/// The transport HTTP+SSE of revision 2024-11-05: the answers to all messages, which are POSTs, arrive on one event
/// stream, whose first event names the address for the messages.
class SseTransport : public McpTransport {
public:
  SseTransport(Loop& loop, HttpClient& http, McpHttpServer server);
  ~SseTransport() override;

  Task<std::string> open(StopSource& stop) override;
  Task<RpcResponse> send_request(RpcRequest request, StopSource& stop) override;
  Task<> notify(std::string method, json::object params) override;
  void set_protocol(McpEra, std::string) override {}
  Task<std::string> wait_for_failure() override;
  Task<> close(std::chrono::milliseconds limit) override;
  void respond(json::object reply) override;

private:
  Task<> receive();
  void start_post(json::object message);
  Task<> post(json::object message);
  Task<HttpOutcome> send(std::string body, OnBody on_body);
  void take_frame(const Frame& frame);
  void take(RpcMessage message);
  void fail(std::string why);

  HttpClient& http_;
  McpHttpServer server_;
  TaskGroup group_;
  PendingRequests pending_;
  StopSource closing_;
  AsyncEvent opened_;
  AsyncEvent failed_;
  std::string failure_;
  WebUrl url_;
  std::string endpoint_;  ///< empty until the stream is open
  FilledSecrets secrets_;
};

}  // namespace agw
