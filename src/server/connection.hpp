#pragma once

#include <memory>
#include <string>

#include "api/route.hpp"
#include "base/aftermath.hpp"
#include "base/id.hpp"
#include "base/wakeup.hpp"
#include "features/events/hub.hpp"
#include "io/blocking.hpp"
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
  Aftermath& aftermath;
  SocketFlusher& flusher;
  ReadWatch& watch;
  Subscription::RunsUnderWay runs_under_way;
  const Hosts& hosts;
  std::string address;              ///< that the gateway listens on: `127.0.0.1:7420`
  const TlsContext* tls = nullptr;  ///< null: nothing is encrypted
  BlockingPool& blocking;
  // The ids of requests in the log are `<process>-<number>`, so that those of two starts differ.
  std::string process = random_hex(3);
  std::uint64_t requests = 0;
};

/// One client's connection: requests one after the other, or a WebSocket after an upgrade. Its coroutine sleeps while
/// nothing has arrived; a request that can be answered without waiting is answered where it arrives, and does not wake
/// it. Answers are gathered, and go out before anything is waited for.
class HttpConnection : public Readable {
public:
  HttpConnection(ConnectionContext& context, Descriptor socket);

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
  enum class Reading { complete, unfinished, refused, gone };
  /// What is next: to look at what has been read, to read, what only the coroutine can do, nothing.
  enum class Next { look, read, serve, end };

  void receive(bool ended) override;
  void answer() override;
  void send() override;
  Next take_what_came();
  Next answer_some(Next next);
  Next look();
  Next answer_at_once();
  Answer handle_at_once();
  bool send_at_once();
  void wake(Next next);
  void interrupt();

  void enter(Phase phase);
  void expect_request();
  Task<Next> read();
  Task<bool> serve();
  Reading begin_body();
  Reading take_body();
  Task<Reading> read_body();
  Task<Reading> rest_of_body();
  Task<bool> discard_body();
  bool refuse(const Answer& answer);
  bool write(const Answer& answer);
  Task<bool> send_rest();
  void forget_answers();
  Task<Answer> handle();
  Task<> read_content(Request& request);
  Answer failure() const;
  Task<bool> pass_on();
  Task<std::optional<Answer>> pass_on(HttpExchange& exchange);
  Request make_request();
  Task<> upgrade();
  bool wants_to_go_on() const;
  std::string request_id() const;

  ConnectionContext& context_;
  Wire wire_;
  RequestParser parser_;
  Admission admission_;  ///< of the request whose head was read last
  std::string in_;
  std::string out_;       ///< answers that are to be sent
  std::size_t sent_ = 0;  ///< bytes of them that went
  Phase phase_ = Phase::idle;
  Wire::Moment phase_began_ = std::chrono::steady_clock::now();
  Wire::Moment request_began_ = phase_began_;  ///< when its head was complete
  Wire::Moment answered_at_ = phase_began_;    ///< when its answer was made, or had gone
  std::uint64_t request_number_ = 0;
  Wakeup wakeup_;
  Next next_ = Next::read;  ///< for the coroutine, when it is woken
  bool asleep_ = false;
  bool unread_ = false;  ///< something has arrived that was not read yet
  bool ended_ = false;   ///< the client sends nothing more
  bool timed_out_ = false;
  bool shutting_down_ = false;
  bool keep_alive_ = true;
  std::unique_ptr<Socket> websocket_;
  HttpExchange* exchange_ = nullptr;  ///< while it goes on
};

}  // namespace agw
