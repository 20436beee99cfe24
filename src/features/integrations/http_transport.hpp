#pragma once

#include <string>

#include "base/async/async_event.hpp"
#include "base/async/task_group.hpp"
#include "features/integrations/http_integration.hpp"
#include "features/integrations/transport.hpp"
#include "features/integrations/types.hpp"
#include "io/http/http_client.hpp"

namespace agw {

/// A server's rejection of a request's credentials.
struct McpRefusal {
  int status = 0;             ///< 401 or 403
  std::string challenge;      ///< `WWW-Authenticate`
  std::string authorization;  ///< the header of the rejected request; empty: it had none
};

/// The Streamable HTTP transport: each message is a POST; responses arrive as JSON or as an event stream, which is
/// resumed if it breaks. In a session, a GET receives the server's own messages.
class HttpTransport : public McpTransport {
public:
  /// Called for each request, to expand the current secrets. Throws SecretError.
  using Address = std::function<Task<ServiceAddress>()>;

  /// Called for a rejected request; returns whether to retry with a new address.
  using OnRefusal = std::function<Task<bool>(McpRefusal)>;

  HttpTransport(Loop& loop, HttpClient& http, std::string name, bool may_be_private, Address address,
                OnRefusal on_refusal);
  ~HttpTransport() override;

  Task<std::string> open(StopSource& stop) override;
  Task<RpcResponse> send_request(RpcRequest request, StopSource& stop) override;
  Task<> notify(std::string method, json::object params) override;
  void set_protocol(McpEra era, std::string version) override;
  void listen() override;
  Task<std::string> wait_for_failure() override;
  Task<> close(std::chrono::milliseconds limit) override;
  void respond(json::object reply) override;

private:
  class PendingRequest;

  Task<> exchange(PendingRequest& exchange, StopSource& stop);
  Task<> post(PendingRequest& exchange, StopSource& stop);
  Task<> resume(PendingRequest& exchange, StopSource& stop);
  Task<> send(PendingRequest& exchange, HttpRequest request, StopSource& stop);
  BodyAction take_bytes(PendingRequest& exchange, const HttpHead& head, std::string_view bytes);
  BodyAction take_events(PendingRequest& exchange, std::string_view bytes);
  void take_body(PendingRequest& exchange);
  bool follow_redirect(PendingRequest& exchange);
  Task<bool> may_try_again(PendingRequest& exchange);
  Task<HttpRequest> request(std::string method, PendingRequest& exchange);
  Task<> listen_in_session();
  Task<> post_message(json::object message);
  void take(PendingRequest& exchange, RpcMessage message);
  bool may_spawn() const;
  void fail(std::string why);

  HttpClient& http_;
  std::string name_;
  bool may_be_private_;
  Address address_;
  OnRefusal on_refusal_;
  TaskGroup group_;
  StopSource closing_;
  StopSource leaving_;  ///< requested by `close` if the transport has not failed: abandons active requests
  AsyncEvent failed_;
  std::string failure_;
  std::int64_t last_id_ = 0;
  McpEra era_ = McpEra::legacy;
  std::string version_;
  std::string session_;
  std::pair<std::string, std::string> moved_;  ///< the last redirect: from, to
};

}  // namespace agw
