// How a connection answers requests, nearly always without a coroutine. See docs/design/concurrency.md.
//
// A *head* is a request without its body. A request is *inline* if its handler never waits and no body has to be
// received. The *poller* (http/read_poller.hpp) watches idle sockets; its three passes call `on_readable`, `on_respond`
// and `on_flush`. `state_` determines who acts next: the coroutine `run`, or the poller while the coroutine is
// suspended.
//
// The invariants:
//   - Responses are sent in the order of the requests: one request is handled at a time, also by the poller.
//   - Responses are gathered while inline requests follow each other, and flushed before anything is waited for.
//   - While the coroutine waits for the poller, only the three passes and `interrupt` change the state.
//   - `lifetime_` only moves towards the end. A connection that is to close never answers another request.
//
// The coroutine serves everything that has to wait: a body, a handler that is a coroutine, a proxied stream, a
// WebSocket, a client that does not accept its responses. The response to a request that changes something is sent
// after the hub's pending effects are on disk. After 16 pipelined requests, other connections get their turn.
//
// A connection has no timer. The server calls `sweep` once a second, and ConnectionTimeouts has the limits.

#include "server/connection.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"
#include "base/log_ids.hpp"
#include "server/dispatch.hpp"
#include "server/http/failure.hpp"
#include "server/websocket/event_socket.hpp"
#include "server/websocket/handler_socket.hpp"
#include "server/websocket/web_socket.hpp"

namespace agw {

namespace {

constexpr int max_inline_requests = 16;                // of a pipeline, before other connections are served
constexpr std::size_t max_discarded_body = 64 * 1024;  // bytes of a rejected body, read to keep the connection

Response request_timeout() { return error_response(408, "request timeout"); }

Response response_of(const Refusal& refusal) { return error_response(refusal.status, refusal.error); }

bool allows_keep_alive(const Head& head) { return head.version == 11 && !head.has_token("connection", "close"); }

}  // namespace

// The states and their transitions:
//
//   state      acts       on                                                   next state
//   ---------  ---------  ---------------------------------------------------  ----------------------------
//   parsing    coroutine  the buffer holds no complete head                    receiving
//                         a request whose handler waits, or that needs a body  serving
//                         max_inline_requests answered                         parsing, after other connections
//                         the last response was made                           closing
//   receiving  coroutine  bytes                                                parsing
//                         nothing there yet                                    waiting
//                         end of stream, interrupt()                           closing
//   serving    coroutine  answered                                             parsing
//                         answered for the last time, or upgraded              closing
//   waiting    poller     on_readable: bytes                                   received
//                         on_readable: end of stream                           closing, woken
//                         interrupt()                                          closing, woken
//   received   poller     on_respond: all requests answered                    responded
//                         on_respond: as in parsing                            parsing, serving, closing; woken
//   responded  poller     on_flush: all sent                                   waiting
//                         on_flush: the client does not take it, or sent more  receiving, woken
//
// Connections that are encrypted, or have waited for a body or to send, are no longer polled and skip the last three.

HttpConnection::HttpConnection(ConnectionContext& context, Descriptor socket)
    : context_(context),
      stream_(context.loop, std::move(socket), context.tls ? context.tls->session() : nullptr),
      reader_(stream_),
      responses_(stream_),
      woken_(context.loop) {}

bool HttpConnection::is_of_poller(State state) {
  return state == State::waiting || state == State::received || state == State::responded;
}

/// What holds whenever the server calls.
void HttpConnection::assert_invariants() const {
  using enum State;
  AGW_ASSERT(!is_of_poller(state_) || stream_.polled());
  AGW_ASSERT(!proxy_stream_ || state_ == serving);
  AGW_ASSERT(!proxy_stream_ || timeouts_.phase() == Phase::proxying);
  AGW_ASSERT(!websocket_ || state_ == closing);
  AGW_ASSERT(websocket_ || timeouts_.phase() != Phase::websocket);
}

Task<> HttpConnection::run() {
  AGW_ASSERT(state_ == State::parsing);
  if (stream_.encrypted()) {
    timeouts_.enter(Phase::head);
    if (!co_await stream_.handshake()) co_return;
  } else {
    stream_.poll_with(context_.poller, *this);
  }
  timeouts_.enter(Phase::idle);
  for (;;) {
    AGW_ASSERT(!is_of_poller(state_));
    if (state_ == State::parsing) parse_and_respond();
    if (!responses_.try_flush() && !co_await flush()) break;
    if (state_ == State::closing) break;
    if (state_ == State::parsing) {
      co_await asio::post(asio::use_awaitable);
    } else if (state_ == State::receiving) {
      co_await receive();
    } else {
      AGW_ASSERT(state_ == State::serving);
      state_ = co_await serve() ? State::parsing : State::closing;
      timeouts_.responded(SocketStream::now());
    }
  }
  if (websocket_) {
    AGW_ASSERT(state_ == State::closing);
    timeouts_.enter(Phase::websocket);
    // The coroutines started by the socket must be joined: `abort` ends them, cancellation must not.
    co_await ignore_cancellation();
    co_await websocket_->serve(std::move(reader_.buffer()));
    co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
  }
  timeouts_.enter(Phase::lingering);
  websocket_.reset();
  if (lifetime_ != Lifetime::shutting_down) co_await stream_.lingering_close();
}

// The poller's three passes.

void HttpConnection::on_readable(bool peer_closed) {
  reader_.on_readable(peer_closed);
  if (state_ != State::waiting) return;
  const auto received = reader_.try_receive();
  if (received == RequestReader::Received::bytes) state_ = State::received;
  if (received == RequestReader::Received::closed) wake(State::closing);
}

void HttpConnection::on_respond() {
  if (state_ != State::received) return;
  parse_and_respond();
  if (state_ == State::receiving) {
    state_ = State::responded;
  } else {
    wake(state_);
  }
}

void HttpConnection::on_flush() {
  if (state_ != State::responded) return;
  if (responses_.try_flush() && !reader_.readable()) {
    state_ = State::waiting;
  } else {
    wake(State::receiving);
  }
}

/// Resumes the coroutine.
void HttpConnection::wake(State state) {
  AGW_ASSERT(!is_of_poller(state));
  AGW_ASSERT(is_of_poller(state_) || state_ == state);
  state_ = state;
  woken_.notify();
}

/// Ends the current wait of the coroutine.
void HttpConnection::interrupt() {
  stream_.interrupt();
  if (state_ == State::waiting) wake(State::closing);
}

// For the poller or the coroutine: work that needs no waiting.

/// Handles the requests in the buffer until one has to wait, none is complete, or other connections should be served.
void HttpConnection::parse_and_respond() {
  state_ = State::parsing;
  for (int handled = 0; state_ == State::parsing; ++handled) {
    AGW_ASSERT(handled <= max_inline_requests);
    const bool others_turn = handled == max_inline_requests || responses_.full();
    if (others_turn && !reader_.buffer().empty()) return;
    state_ = handle_next();
  }
}

HttpConnection::State HttpConnection::handle_next() {
  AGW_ASSERT(state_ == State::parsing);
  AGW_ASSERT(!websocket_);
  AGW_ASSERT(!proxy_stream_);
  AGW_ASSERT(lifetime_ != Lifetime::last_response);
  if (reader_.head_complete()) {
    reader_.next_request();
    timeouts_.await_request(!reader_.buffer().empty());
  }
  if (reader_.buffer().empty()) return State::receiving;
  const auto parsed = reader_.parse_head();
  if (parsed == RequestReader::Parsed::incomplete) {
    if (timeouts_.phase() == Phase::idle && !reader_.buffer().empty()) timeouts_.enter(Phase::head);
    return State::receiving;
  }
  start_request();
  if (parsed == RequestReader::Parsed::refused) return State::serving;
  admission_ = context_.gate.admit(reader_.head());
  if (!allows_keep_alive(reader_.head())) limit(Lifetime::last_response);
  return reader_.parser().done() ? respond_inline() : State::serving;
}

void HttpConnection::start_request() {
  request_began_ = std::chrono::steady_clock::now();
  request_number_ = ++context_.requests;
}

HttpConnection::State HttpConnection::respond_inline() {
  AGW_ASSERT(reader_.parser().done());
  if (admission_.websocket) return State::serving;
  if (admission_.response) return write(*std::move(admission_.response)) ? State::parsing : State::closing;
  AGW_ASSERT(admission_.route);
  if (!admission_.route->inline_handler) return State::serving;
  return write(call_inline_handler()) ? State::parsing : State::closing;
}

Response HttpConnection::call_inline_handler() {
  const auto request = make_request();
  try {
    check_target(admission_.target);
    return request.route->inline_handler(request);
  } catch (...) {
    return failure();
  }
}

// For the coroutine: everything that has to wait.

Task<> HttpConnection::receive() {
  AGW_ASSERT(state_ == State::receiving);
  reader_.shrink_buffer();
  if (lifetime_ == Lifetime::shutting_down) {
    state_ = State::closing;
  } else if (!stream_.polled()) {
    state_ = co_await reader_.receive() ? State::parsing : State::closing;
  } else if (reader_.readable()) {
    try_receive();
  } else {
    state_ = State::waiting;
    co_await woken_.wait();
    woken_.reset();
  }
  const bool in_head = timeouts_.phase() == Phase::head;
  if (state_ == State::closing && lifetime_ == Lifetime::timed_out && in_head) refuse(request_timeout());
}

void HttpConnection::try_receive() {
  const auto received = reader_.try_receive();
  if (received == RequestReader::Received::bytes) state_ = State::parsing;
  if (received == RequestReader::Received::closed) state_ = State::closing;
}

/// Answers the request whose head was parsed. Returns whether another request may follow.
Task<bool> HttpConnection::serve() {
  AGW_ASSERT(reader_.head_complete() || reader_.refusal());
  if (reader_.refusal()) co_return refuse(response_of(*reader_.refusal()));
  if (admission_.websocket) {
    co_await upgrade();
    co_return false;
  }
  if (admission_.response) co_return co_await respond_before_body();
  AGW_ASSERT(admission_.route);
  if (admission_.route->stream) co_return co_await proxy();
  co_return co_await respond_after_body();
}

/// Sends the gate's response without waiting for the body; the client may then omit it.
Task<bool> HttpConnection::respond_before_body() {
  AGW_ASSERT(admission_.response);
  const auto& head = reader_.head();
  if (head.chunked || head.content_length.value_or(0) > max_discarded_body) limit(Lifetime::last_response);
  if (!write(*std::move(admission_.response))) co_return false;
  if (!responses_.try_flush() && !co_await flush()) co_return false;
  timeouts_.enter(Phase::body);
  co_return co_await reader_.discard_body();
}

/// Reads the body, then calls the handler.
Task<bool> HttpConnection::respond_after_body() {
  AGW_ASSERT(admission_.route);
  AGW_ASSERT(!admission_.response);
  using Body = RequestReader::Body;
  if (!reader_.parser().done()) timeouts_.enter(Phase::body);
  auto body = reader_.begin_body(admission_.body_limit);
  if (body == Body::incomplete) body = co_await reader_.read_body();
  if (body == Body::refused) co_return refuse(response_of(*reader_.refusal()));
  if (body == Body::closed) {
    if (lifetime_ == Lifetime::timed_out) refuse(request_timeout());
    co_return false;
  }
  if (body == Body::too_large) {
    limit(Lifetime::last_response);
    co_return write(error_response(body_too_large(), admission_.protocol));
  }
  timeouts_.enter(Phase::handling);
  auto response = co_await call_handler();
  if (admission_.route->effect != Effect::read && !context_.hub.pending_effects().over())
    co_await context_.hub.pending_effects().settle();
  co_return write(std::move(response));
}

Task<Response> HttpConnection::call_handler() {
  auto request = make_request();
  try {
    co_return co_await dispatch(request, admission_.target, context_.idempotency, context_.blocking, context_.others);
  } catch (const boost::system::system_error& error) {
    // The gateway stops and has interrupted the handler: any response could be wrong about its effect.
    const bool cut_off = lifetime_ == Lifetime::shutting_down && error.code() == asio::error::operation_aborted;
    if (cut_off) throw;
    co_return failure();
  } catch (...) {
    co_return failure();
  }
}

/// Hands the connection to the route's proxy handler for one request. Returns whether another request may follow.
Task<bool> HttpConnection::proxy() {
  AGW_ASSERT(!proxy_stream_);
  AGW_ASSERT(!websocket_);
  timeouts_.enter(Phase::proxying);
  const auto& head = reader_.head();
  HttpProxyStream stream(stream_, reader_.parser(), reader_.buffer(),
                         {.response = response_options(),
                          .target = std::string_view(head.target).substr(head.target.find(admission_.target.path)),
                          .expects_continue = expects_continue(head),
                          .on_begin = [this](int status) {
                            context_.metrics.count(admission_.route, status,
                                                   std::chrono::steady_clock::now() - request_began_);
                          }});
  proxy_stream_ = &stream;
  // Coroutines started by the handler must be joined: `abort` ends them, cancellation must not.
  co_await ignore_cancellation();
  auto response = co_await call_proxy_handler(stream);
  AGW_ASSERT(proxy_stream_ == &stream);
  proxy_stream_ = nullptr;
  co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
  if (stream.begun()) co_return stream.complete() && lifetime_ == Lifetime::open;
  if (response) {
    if (!reader_.parser().done()) limit(Lifetime::last_response);
    co_return write(*std::move(response));
  }
  if (lifetime_ == Lifetime::timed_out) refuse(request_timeout());
  co_return false;
}

/// Returns a response only if the handler failed before it began one.
Task<std::optional<Response>> HttpConnection::call_proxy_handler(HttpProxyStream& stream) {
  auto request = make_request();
  try {
    co_await dispatch_stream(request, admission_.target, stream, context_.idempotency, admission_.body_limit);
  } catch (...) {
    co_return failure();
  }
  co_return std::nullopt;
}

Task<> HttpConnection::upgrade() {
  AGW_ASSERT(admission_.websocket);
  AGW_ASSERT(!proxy_stream_);
  AGW_ASSERT(!websocket_);
  auto opened = open_websocket(reader_.head(), admission_.target, context_.gate, admission_.route);
  if (auto* refusal = std::get_if<Response>(&opened)) {
    refuse(admission_.protocol == Protocol::gateway ? std::move(*refusal)
                                                    : in_protocol(std::move(*refusal), admission_.protocol));
    co_return;
  }
  if (!co_await stream_.send(std::get<std::string>(opened))) co_return;
  if (admission_.route && admission_.route->socket) {
    websocket_ = std::make_unique<HandlerSocket>(context_.loop, stream_, context_.flusher, make_request(),
                                                 admission_.body_limit);
  } else {
    websocket_ = std::make_unique<EventSocket>(context_.loop, stream_, context_.flusher, context_.hub,
                                               context_.active_runs, context_.runs_elsewhere);
  }
  reader_.next_request();
  admission_ = {};
}

/// Waits until all responses were sent. Returns false if the connection broke.
Task<bool> HttpConnection::flush() {
  const auto phase = timeouts_.phase();
  timeouts_.enter(Phase::sending);
  const bool sent = co_await responses_.flush();
  timeouts_.enter(phase);
  co_return sent;
}

// Requests and responses.

Request HttpConnection::make_request() {
  AGW_ASSERT(admission_.route);
  AGW_ASSERT(reader_.head_complete());
  auto& head = reader_.head();
  Request request;
  request.method = admission_.route->method;
  request.route = admission_.route;
  request.head = head.method == "HEAD";
  request.segments = std::move(admission_.target.segments);
  request.parameters = std::move(admission_.target.parameters);
  request.headers = std::move(head.fields);
  request.content = reader_.parser().take_body();
  request.host = admission_.host.empty() ? context_.address : std::move(admission_.host);
  request.scheme = context_.hosts.scheme_of(request.host);
  return request;
}

ResponseOptions HttpConnection::response_options() const {
  return {.without_body = reader_.head().method == "HEAD",
          .close = lifetime_ != Lifetime::open,
          .cors_origin = admission_.cors_origin,
          .fields = admission_.fields};
}

/// Queues the response to the current request. Returns whether another request may follow.
bool HttpConnection::write(Response response) {
  AGW_DEBUG_ASSERT(response.status >= 200 && response.status < 600);
  AGW_ASSERT(!proxy_stream_);  // it writes to the same client
  AGW_ASSERT(!websocket_);
  // Needs the exact clock: the coarse one may be before `request_began_`.
  const auto now = std::chrono::steady_clock::now();
  const auto took = now - request_began_;
  timeouts_.responded(now);
  context_.metrics.count(admission_.route, response.status, took);
  if (log::enabled(log::Level::debug)) {
    // Omits the query, which may contain a token.
    log::debug({.request = request_id()}, "{} {} {} in {} us", reader_.head().method, admission_.target.path,
               response.status, std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  }
  if (response.close) limit(Lifetime::last_response);
  responses_.append(std::move(response), response_options());
  return lifetime_ == Lifetime::open;
}

/// Responds to a malformed or late request. Always returns false: the connection closes.
bool HttpConnection::refuse(Response response) {
  limit(Lifetime::last_response);
  admission_ = {};
  return write(std::move(response));
}

/// The response to the current exception of a handler. Only inside a catch block.
Response HttpConnection::failure() const {
  return failure_response(std::current_exception(),
                          {request_id(), reader_.head().method, admission_.target.path, admission_.protocol});
}

std::string HttpConnection::request_id() const { return fmt::format("{}-{}", context_.process, request_number_); }

// Called by the server.

void HttpConnection::sweep(TimePoint now) {
  assert_invariants();
  if (proxy_stream_ && proxy_stream_->is_stuck(now)) {
    limit(Lifetime::timed_out);
    proxy_stream_->abort();
  } else if (timeouts_.phase() == Phase::websocket) {
    websocket_->sweep(now);
  } else if (timeouts_.expired(now, stream_.last_activity())) {
    limit(Lifetime::timed_out);
    interrupt();
  }
}

void HttpConnection::abort() {
  assert_invariants();
  if (proxy_stream_) proxy_stream_->abort();
  if (timeouts_.phase() == Phase::websocket) websocket_->abort();
  interrupt();
}

void HttpConnection::close_websocket() {
  assert_invariants();
  if (proxy_stream_) proxy_stream_->abort();
  if (timeouts_.phase() == Phase::websocket)
    websocket_->close(websocket::CloseCode::going_away, "the gateway ended the connection");
}

void HttpConnection::shut_down() {
  assert_invariants();
  limit(Lifetime::shutting_down);
  const auto phase = timeouts_.phase();
  if (phase == Phase::websocket)
    close_websocket();
  else if (proxy_stream_ && proxy_stream_->upgraded())
    proxy_stream_->abort();
  else if (phase == Phase::idle || phase == Phase::lingering)
    interrupt();
}

}  // namespace agw
