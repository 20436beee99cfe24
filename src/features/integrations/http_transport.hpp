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

/// A server that is reached by HTTP.
struct McpHttpServer {
  std::string name;  ///< of the integration
  bool may_be_private = false;
  /// Called for each request, to expand the current secrets. Throws SecretError.
  std::function<Task<ServiceAddress>()> address;
  /// Called for a rejected request; returns whether to retry with a new address.
  std::function<Task<bool>(McpRefusal)> on_refusal;
};

/// The credentials among the headers of a request; empty if there are none.
std::string authorization_of(const std::vector<HttpHeader>& headers);
/// The rejection of a request with these credentials; nullopt if the response is not one.
std::optional<McpRefusal> refusal_in(const HttpHead& head, const std::string& authorization);
bool is_event_stream(const HttpHead& head);

/// The Streamable HTTP transport: each message is a POST; responses arrive as JSON or as an event stream, which is
/// resumed if it breaks. In a session, a GET receives the server's own messages.
class HttpTransport : public McpTransport {
public:
  HttpTransport(Loop& loop, HttpClient& http, McpHttpServer server);
  ~HttpTransport() override;

  Task<std::string> open(StopSource& stop) override;
  Task<RpcResponse> send_request(RpcRequest request, StopSource& stop) override;
  bool sends_headers() const override { return true; }
  Task<> notify(std::string method, json::object params) override;
  void set_protocol(McpEra era, std::string version) override;
  void listen() override;
  Task<std::string> wait_for_failure() override;
  Task<> close(std::chrono::milliseconds limit) override;
  void respond(json::object reply) override;
  std::unique_ptr<McpTransport> older() const override;

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

  Loop& loop_;
  HttpClient& http_;
  McpHttpServer server_;
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
