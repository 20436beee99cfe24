#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "api/route.hpp"
#include "base/async/async_event.hpp"
#include "base/id.hpp"
#include "features/events/hub.hpp"
#include "features/events/subscription.hpp"
#include "io/process/blocking.hpp"
#include "server/http/connection_timeouts.hpp"
#include "server/http/gate.hpp"
#include "server/http/http_proxy_stream.hpp"
#include "server/http/request_reader.hpp"
#include "server/http/response_queue.hpp"
#include "server/http/socket_stream.hpp"
#include "server/idempotency.hpp"
#include "server/metrics.hpp"
#include "server/websocket/event_socket.hpp"
#include "server/websocket/web_socket.hpp"

namespace agw {

/// State shared by all connections of a server.
struct ConnectionContext {
  Loop& loop;
  const Gate& gate;
  Idempotency& idempotency;
  Hub& hub;
  Metrics& metrics;
  WebSocketFlusher& flusher;
  ReadPoller& poller;
  Subscription::ActiveRuns active_runs;
  const Hosts& hosts;
  std::string address;              ///< the listening address, `127.0.0.1:7420`
  const TlsContext* tls = nullptr;  ///< null: connections are not encrypted
  BlockingPool& blocking;
  OtherNodes* others = nullptr;  ///< null: this gateway is not part of a cluster
  RunsElsewhere runs_elsewhere = {};
  /// Request ids in the log are `<process>-<number>`, so that ids of two processes differ.
  std::string process = random_hex(3);
  std::uint64_t requests = 0;
};

/// One client's connection: successive requests, or a WebSocket after an upgrade. While no request needs to wait, the
/// coroutine is suspended and the poller's passes read, handle and answer requests; the coroutine does everything else.
/// Responses are collected and sent before any wait.
class HttpConnection : public ReadHandler {
public:
  using TimePoint = SocketStream::TimePoint;

  HttpConnection(ConnectionContext& context, Descriptor socket);

  /// Serves the client until either side closes the connection.
  Task<> run();

  /// Called once a second: closes the connection if it has timed out.
  void sweep(TimePoint now);

  /// The gateway stops: ends an idle connection immediately, a connection with a request in progress after its
  /// response, and closes a WebSocket with 1001.
  void shut_down();

  /// Closes a WebSocket with 1001 or aborts a proxied stream; has no effect on other connections.
  void close_websocket();

  /// Ends every wait immediately.
  void abort();

private:
  /// Who acts next, and on which event. connection.cpp has the table of transitions.
  enum class State {
    parsing,    ///< coroutine: parse and answer the requests in the buffer
    receiving,  ///< coroutine: receive more bytes
    serving,    ///< coroutine: handle the parsed request, which has to wait
    closing,    ///< coroutine: no further request
    waiting,    ///< suspended: until the poller reports bytes
    received,   ///< suspended: bytes were received in the poller's first pass
    responded,  ///< suspended: responses were made in its second pass
  };
  /// How long the connection lasts; changes only towards the end of this list.
  enum class Lifetime {
    open,           ///< another request may follow
    last_response,  ///< it closes after the next response
    timed_out,
    shutting_down,
  };
  using Phase = ConnectionTimeouts::Phase;

  /// Whether the poller acts next.
  static bool is_of_poller(State state);
  void assert_invariants() const;
  void on_readable(bool peer_closed) override;
  void on_respond() override;
  void on_flush() override;
  void wake(State state);
  void interrupt();

  void parse_and_respond();
  State handle_next();
  State respond_inline();
  Response call_inline_handler();

  Task<> receive();
  void try_receive();
  Task<bool> serve();
  Task<bool> respond_before_body();
  Task<bool> respond_after_body();
  Task<Response> call_handler();
  Task<bool> proxy();
  Task<std::optional<Response>> call_proxy_handler(HttpProxyStream& stream);
  Task<> upgrade();
  Task<bool> flush();

  void start_request();
  Request make_request();
  ResponseOptions response_options() const;
  bool write(Response response);
  bool refuse(Response response);
  Response failure() const;
  std::string request_id() const;
  void limit(Lifetime lifetime) { lifetime_ = std::max(lifetime_, lifetime); }

  ConnectionContext& context_;
  SocketStream stream_;
  RequestReader reader_;
  ResponseQueue responses_;
  ConnectionTimeouts timeouts_;
  State state_ = State::parsing;
  Lifetime lifetime_ = Lifetime::open;
  AsyncEvent woken_;

  Admission admission_;  ///< of the current request
  std::uint64_t request_number_ = 0;
  TimePoint request_began_ = std::chrono::steady_clock::now();  ///< when its head was complete

  std::unique_ptr<WebSocket> websocket_;
  HttpProxyStream* proxy_stream_ = nullptr;  ///< while a proxied request is in progress
};

}  // namespace agw
