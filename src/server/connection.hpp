#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/route.hpp"
#include "base/id.hpp"
#include "features/events/hub.hpp"
#include "server/exchange.hpp"
#include "server/gate.hpp"
#include "server/idempotency.hpp"
#include "server/metrics.hpp"
#include "server/request_parser.hpp"
#include "server/response.hpp"
#include "server/socket.hpp"
#include "server/wire.hpp"

namespace agw {

/// What all connections share.
struct ConnectionContext {
  Loop& loop;
  const Gate& gate;
  Idempotency& idempotency;
  Hub& hub;
  Metrics& metrics;
  SocketFlusher& flusher;
  Subscription::RunsUnderWay runs_under_way;
  std::string scheme;               ///< `http://` or `https://`
  const TlsContext* tls = nullptr;  ///< null: nothing is encrypted
  // The ids of requests in the log are `<process>-<number>`, so that those of two starts differ.
  std::string process = random_hex(3);
  std::uint64_t requests = 0;
};

/// One client's connection: requests one after the other, or a WebSocket after an upgrade.
class HttpConnection {
public:
  HttpConnection(ConnectionContext& context, asio::ip::tcp::socket socket);

  /// Serves until either side ends it.
  Task<> run();

  /// Called each second: ends what takes too long.
  void sweep(Wire::Moment now);

  /// The gateway stops: an idle connection ends now, a request under way is answered first, a WebSocket gets 1001.
  void shut_down();

  /// Closes it if it is a WebSocket, or passes on what somebody else says.
  void close_socket();

  /// Ends whatever it waits for.
  void abort();

private:
  enum class Phase { idle, head, body, handling, exchange, sending, finishing, socket };
  /// What became of reading a part of a request.
  enum class Reading { complete, refused, gone };

  void enter(Phase phase);
  Task<bool> serve_one();
  Task<Reading> read_head();
  Task<Reading> read_body(const Admission& admission);
  Task<bool> discard_body();
  Task<bool> refuse(int status, std::string_view error);
  Task<bool> respond(const Answer& answer, const Admission& admission);
  void write(const Answer& answer, const Admission& admission);
  bool sent();
  Task<Answer> handle(Admission& admission);
  Task<bool> pass_on(Admission& admission);
  Task<std::optional<Answer>> pass_on(Admission& admission, HttpExchange& exchange);
  Request make_request(Admission& admission);
  Task<> upgrade(const Admission& admission);
  bool wants_to_go_on() const;
  std::string request_id() const;

  ConnectionContext& context_;
  Wire wire_;
  RequestParser parser_;
  std::string in_;
  std::string out_;
  Phase phase_ = Phase::idle;
  Wire::Moment phase_began_ = std::chrono::steady_clock::now();
  Wire::Moment request_began_ = phase_began_;  ///< when its head was complete
  std::uint64_t request_number_ = 0;
  bool timed_out_ = false;
  bool shutting_down_ = false;
  bool keep_alive_ = true;
  std::unique_ptr<Socket> websocket_;
  HttpExchange* exchange_ = nullptr;  ///< while it goes on
};

}  // namespace agw
