#include "server/connection.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include "api/refusals.hpp"
#include "base/log_ids.hpp"
#include "server/failure.hpp"
#include "server/upgrade.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto idle_limit = 75s;                       // between two requests
constexpr auto silence_limit = 30s;                    // within a head, a body or an answer
constexpr auto whole_head_limit = 60s;                 // however busily it trickles
constexpr auto finish_limit = 2s;                      // for what a client still sends after its last answer
constexpr int requests_at_once = 16;                   // of a pipeline, before other connections have a turn
constexpr std::size_t body_worth_reading = 64 * 1024;  // of a refused request, to keep its connection
constexpr std::size_t large_body = 256 * 1024;         // that may hold so many values that the loop is not to read it
constexpr std::size_t kept_capacity = 4096;
constexpr std::size_t longest_idempotency_key = 255;

void check_path(const Target& target) {
  if (target.bad_path) throw BadRequest("invalid path");
}

void check(const Target& target) {
  check_path(target);
  if (target.bad_query) throw invalid_query();
}

/// HTTP/1.0 knows no interim answers (RFC 9110, 10.1.1).
bool awaits_continue(const Head& head) { return head.version == 11 && head.names("expect", "100-continue"); }

Answer request_timeout() { return error_answer(408, "request timeout"); }

Answer answer_of(const Refusal& refusal) { return error_answer(refusal.status, refusal.error); }

/// Empty for a request that is not to be remembered: what anybody may ask never is, for the answer to a pairing is the
/// token.
std::string idempotency_key(const Request& request) {
  if (request.method != Method::post || request.route->open) return {};
  const auto key = request.header("idempotency-key").value_or("");
  if (key.size() > longest_idempotency_key) throw BadRequest("Idempotency-Key must be at most 255 characters");
  return std::string(key);
}

}  // namespace

HttpConnection::HttpConnection(ConnectionContext& context, Descriptor socket)
    : context_(context),
      wire_(context.loop, std::move(socket), context.tls ? context.tls->session() : nullptr),
      wakeup_(context.loop) {}

Task<> HttpConnection::run() {
  if (wire_.encrypted()) {
    enter(Phase::head);
    if (!co_await wire_.secure()) co_return;
  } else {
    wire_.watch(context_.watch, *this);
  }
  enter(Phase::idle);
  for (auto next = Next::look;;) {
    next = answer_some(next);
    if (!send_at_once() && !co_await send_rest()) break;
    if (next == Next::end) break;
    if (next == Next::look) {
      co_await asio::post(asio::use_awaitable);
    } else if (next == Next::read) {
      next = co_await read();
    } else {
      next = co_await serve() ? Next::look : Next::end;
      answered_at_ = Wire::now();
    }
  }
  if (websocket_) {
    enter(Phase::socket);
    const Hub::Listening listening(context_.hub, *websocket_);
    // Its writer must be joined: it is told to end (`abort`), never cut off.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await websocket_->run(std::move(in_));
    co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
  }
  enter(Phase::finishing);
  if (!shutting_down_) co_await wire_.finish();
}

void HttpConnection::enter(Phase phase) {
  phase_ = phase;
  phase_began_ = Wire::now();
}

// Without the coroutine: what has arrived is answered, where that needs no waiting.

void HttpConnection::receive(bool ended) {
  unread_ = true;
  ended_ = ended_ || ended;
  if (asleep_) next_ = take_what_came();
}

void HttpConnection::answer() {
  if (asleep_) next_ = answer_some(next_);
}

void HttpConnection::send() {
  if (!asleep_) return;
  const bool all = send_at_once();
  if (!all || next_ != Next::read || unread_) wake(next_);
}

void HttpConnection::wake(Next next) {
  asleep_ = false;
  next_ = next;
  wakeup_.notify();
}

/// Ends what the coroutine waits for.
void HttpConnection::interrupt() {
  wire_.interrupt();
  if (asleep_) wake(Next::end);
}

HttpConnection::Next HttpConnection::take_what_came() {
  const auto arrived = wire_.receive_at_once(in_);
  if (arrived == Wire::Arrived::end) return Next::end;
  // The end itself is still to be read behind the bytes before it.
  unread_ = arrived == Wire::Arrived::more || (ended_ && arrived == Wire::Arrived::bytes);
  return arrived == Wire::Arrived::nothing ? Next::read : Next::look;
}

/// Answers what needs no waiting, until it is others' turn.
HttpConnection::Next HttpConnection::answer_some(Next next) {
  const auto has_turn = [&](int looked) { return looked < requests_at_once && out_.size() <= kept_capacity; };
  for (int looked = 0; next == Next::look && (in_.empty() || has_turn(looked)); ++looked) next = look();
  return next;
}

/// Looks for a request in what has been read, and answers it if it can.
HttpConnection::Next HttpConnection::look() {
  if (parser_.head_done()) expect_request();
  if (in_.empty()) return Next::read;
  in_.erase(0, parser_.put(in_));
  if (!parser_.head_done() && !parser_.refusal()) {
    if (phase_ == Phase::idle && !in_.empty()) enter(Phase::head);
    return Next::read;
  }
  request_began_ = std::chrono::steady_clock::now();
  request_number_ = ++context_.requests;
  if (parser_.refusal()) return Next::serve;
  admission_ = context_.gate.judge(parser_.head());
  keep_alive_ = wants_to_go_on();
  return parser_.done() ? answer_at_once() : Next::serve;
}

/// The request before was answered.
void HttpConnection::expect_request() {
  parser_.reset();
  keep_alive_ = true;
  phase_ = in_.empty() ? Phase::idle : Phase::head;
  phase_began_ = answered_at_;
}

HttpConnection::Next HttpConnection::answer_at_once() {
  if (admission_.websocket) return Next::serve;
  if (admission_.answer) return write(*admission_.answer) ? Next::look : Next::end;
  if (!admission_.route->at_once) return Next::serve;
  return write(handle_at_once()) ? Next::look : Next::end;
}

Answer HttpConnection::handle_at_once() {
  const auto request = make_request();
  try {
    check(admission_.target);
    return request.route->at_once(request);
  } catch (...) {
    return failure();
  }
}

/// Sends the answers, as far as they go at once. Whether all of them went.
bool HttpConnection::send_at_once() {
  auto rest = std::string_view(out_).substr(sent_);
  const bool broken = !wire_.send_at_once(rest);
  sent_ = out_.size() - rest.size();
  if (broken || !rest.empty() || wire_.holds_back()) return false;
  forget_answers();
  return true;
}

void HttpConnection::forget_answers() {
  out_.clear();
  sent_ = 0;
  if (out_.capacity() > kept_capacity) std::string().swap(out_);
}

// By the coroutine: whatever waits.

Task<HttpConnection::Next> HttpConnection::read() {
  if (in_.empty() && in_.capacity() > kept_capacity) std::string().swap(in_);
  if (shutting_down_) co_return Next::end;
  if (wire_.watched() && unread_) co_return take_what_came();
  auto next = Next::look;
  if (wire_.watched()) {
    asleep_ = true;
    co_await wakeup_.wait();
    wakeup_.reset();
    next = next_;
  } else if (!co_await wire_.receive(in_)) {
    next = Next::end;
  }
  if (next == Next::end && timed_out_ && phase_ == Phase::head) refuse(request_timeout());
  co_return next;
}

/// Answers the request whose head was read. False where the connection ends with it.
Task<bool> HttpConnection::serve() {
  if (parser_.refusal()) co_return refuse(answer_of(*parser_.refusal()));
  if (admission_.websocket) {
    co_await upgrade();
    co_return false;
  }
  if (admission_.answer) {
    const auto& length = parser_.head().content_length;
    if (parser_.head().chunked || (length && *length > body_worth_reading)) keep_alive_ = false;
    if (!write(*admission_.answer)) co_return false;
    // It goes out before the body has come, which its sender may then leave out.
    co_return (send_at_once() || co_await send_rest()) && co_await discard_body();
  }
  if (admission_.route->exchange) co_return co_await pass_on();
  auto body = parser_.done() ? Reading::complete : begin_body();
  if (body == Reading::unfinished) body = co_await read_body();
  if (body == Reading::gone) co_return false;
  if (body == Reading::refused) co_return refuse(answer_of(*parser_.refusal()));
  if (parser_.body_too_large()) {
    keep_alive_ = false;
    co_return write(error_answer(body_too_large()));
  }
  enter(Phase::handling);
  const auto answer = co_await handle();
  if (admission_.route->effect != Effect::read && !context_.aftermath.over()) co_await context_.aftermath.settle();
  co_return write(answer);
}

/// What came together with the head: mostly all of it.
HttpConnection::Reading HttpConnection::begin_body() {
  parser_.keep_body(admission_.body_limit);
  enter(Phase::body);
  return in_.empty() ? Reading::unfinished : take_body();
}

HttpConnection::Reading HttpConnection::take_body() {
  in_.erase(0, parser_.put(in_));
  if (parser_.refusal()) return Reading::refused;
  return parser_.done() || parser_.body_too_large() ? Reading::complete : Reading::unfinished;
}

Task<HttpConnection::Reading> HttpConnection::read_body() {
  if (awaits_continue(parser_.head()) && in_.empty() && parser_.body_received() == 0) {
    if (!co_await wire_.send("HTTP/1.1 100 Continue\r\n\r\n")) co_return Reading::gone;
  }
  const auto body = co_await rest_of_body();
  if (body == Reading::gone && timed_out_) refuse(request_timeout());
  co_return body;
}

Task<HttpConnection::Reading> HttpConnection::rest_of_body() {
  auto body = Reading::unfinished;
  while (body == Reading::unfinished) {
    body = co_await wire_.receive(in_) ? take_body() : Reading::gone;
  }
  co_return body;
}

/// Reads past the body of a request that was answered without it, so that the next one can follow.
Task<bool> HttpConnection::discard_body() {
  enter(Phase::body);
  auto body = take_body();
  if (body == Reading::unfinished) body = co_await rest_of_body();
  co_return body == Reading::complete;
}

/// Answers what is no proper request; the connection ends after it.
bool HttpConnection::refuse(const Answer& answer) {
  keep_alive_ = false;
  admission_ = {};
  return write(answer);
}

/// Makes the answer ready to be sent. Whether the connection goes on after it.
bool HttpConnection::write(const Answer& answer) {
  // By the exact clock: the coarse one may be behind what was taken by the other.
  answered_at_ = std::chrono::steady_clock::now();
  const auto took = answered_at_ - request_began_;
  context_.metrics.count(admission_.route, answer.status, took);
  if (log::enabled(log::Level::debug)) {
    // Not the query: a token may stand there.
    log::debug({.request = request_id()}, "{} {} {} in {} us", parser_.head().method, admission_.target.path,
               answer.status, std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  }
  keep_alive_ = keep_alive_ && !answer.close && !shutting_down_;
  write_response(out_, answer,
                 {.without_body = parser_.head().method == "HEAD",
                  .close = !keep_alive_,
                  .cors_origin = admission_.cors_origin,
                  .fields = admission_.fields});
  return keep_alive_;
}

/// False where the connection broke.
Task<bool> HttpConnection::send_rest() {
  const auto phase = phase_;
  enter(Phase::sending);
  const bool all = co_await wire_.send(std::string_view(out_).substr(sent_));
  forget_answers();
  enter(phase);
  co_return all;
}

bool HttpConnection::wants_to_go_on() const {
  const auto& head = parser_.head();
  return head.version == 11 && !head.names("connection", "close");
}

Task<Answer> HttpConnection::handle() {
  auto request = make_request();
  try {
    check(admission_.target);
    if (request.route->demand) request.route->demand(request);
    const auto key = idempotency_key(request);
    if (request.content.size() > large_body && takes_json(*request.route)) co_await read_content(request);
    if (key.empty()) co_return co_await request.route->handler(request);
    co_return co_await context_.idempotency.once(request, key, std::string(admission_.target.path),
                                                 request.route->handler);
  } catch (const boost::system::system_error& error) {
    // Cut off by the gateway's stop: what became of the work is not known, and an answer would say that it is.
    if (shutting_down_ && error.code() == asio::error::operation_aborted) throw;
    co_return failure();
  } catch (...) {
    co_return failure();
  }
}

/// Beside the loop, where what was read is destroyed too, once its handler has taken from it what it wants.
Task<> HttpConnection::read_content(Request& request) {
  auto& blocking = context_.blocking;
  const auto content = std::make_shared<std::string>(std::move(request.content));
  auto read = co_await blocking.run([content] { return parse_json(*content); });
  request.content = std::move(*content);
  request.read_content = {new std::optional(std::move(read)), [&blocking](auto* value) {
                            blocking.destroy(std::unique_ptr<std::optional<json::value>>(value));
                          }};
}

/// What the exception that a handler let go is answered with.
Answer HttpConnection::failure() const {
  return answer_of_failure(std::current_exception(), {request_id(), parser_.head().method, admission_.target.path});
}

std::string HttpConnection::request_id() const { return fmt::format("{}-{}", context_.process, request_number_); }

/// Hands the connection to the route's handler for one request.
Task<bool> HttpConnection::pass_on() {
  enter(Phase::exchange);
  const auto& head = parser_.head();
  HttpExchange exchange(wire_, parser_, in_,
                        {.response = {.without_body = head.method == "HEAD",
                                      .close = !keep_alive_,
                                      .cors_origin = admission_.cors_origin,
                                      .fields = admission_.fields},
                         .target = std::string_view(head.target).substr(head.target.find(admission_.target.path)),
                         .awaits_continue = awaits_continue(head),
                         .on_begin = [this](int status) {
                           context_.metrics.count(admission_.route, status,
                                                  std::chrono::steady_clock::now() - request_began_);
                         }});
  exchange_ = &exchange;
  // What the handler started must be joined: it is told to end (`abort`), never cut off.
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto refusal = co_await pass_on(exchange);
  exchange_ = nullptr;
  co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
  if (exchange.begun()) co_return exchange.complete() && keep_alive_ && !shutting_down_;
  if (!refusal) co_return timed_out_&& refuse(request_timeout());
  keep_alive_ = keep_alive_ && parser_.done();
  co_return write(*refusal);
}

/// The answer that the handler left to us, if any.
Task<std::optional<Answer>> HttpConnection::pass_on(HttpExchange& exchange) {
  auto request = make_request();
  try {
    check_path(admission_.target);
    co_await admission_.route->exchange(request, exchange);
  } catch (...) {
    co_return failure();
  }
  co_return std::nullopt;
}

Request HttpConnection::make_request() {
  Request request;
  request.method = admission_.route->method;
  request.route = admission_.route;
  request.head = parser_.head().method == "HEAD";
  request.segments = std::move(admission_.target.segments);
  request.parameters = std::move(admission_.target.parameters);
  request.headers = std::move(parser_.head().fields);
  request.content = parser_.take_body();
  request.host = admission_.host.empty() ? context_.address : std::move(admission_.host);
  request.scheme = context_.hosts.scheme_of(request.host);
  return request;
}

Task<> HttpConnection::upgrade() {
  auto opened = open_websocket(parser_.head(), admission_.target, context_.gate);
  if (auto* refusal = std::get_if<Answer>(&opened)) {
    refuse(*refusal);
    co_return;
  }
  if (!co_await wire_.send(std::get<std::string>(opened))) co_return;
  parser_.reset();
  admission_ = {};
  websocket_ = std::make_unique<Socket>(context_.loop, wire_, context_.flusher, context_.runs_under_way);
}

void HttpConnection::sweep(Wire::Moment now) {
  const auto silence = now - wire_.last_activity();
  const auto phase = now - phase_began_;
  bool overdue = false;
  switch (phase_) {
    case Phase::idle:
      overdue = phase > idle_limit;
      break;
    case Phase::head:
      overdue = silence > silence_limit || phase > whole_head_limit;
      break;
    case Phase::body:
    case Phase::sending:
      overdue = silence > silence_limit;
      break;
    case Phase::finishing:
      overdue = phase > finish_limit;
      break;
    case Phase::handling:
      break;
    case Phase::exchange:
      if (!exchange_ || !exchange_->is_stuck(now)) break;
      timed_out_ = true;
      exchange_->abort();
      break;
    case Phase::socket:
      websocket_->sweep(now);
      break;
  }
  if (!overdue) return;
  timed_out_ = true;
  interrupt();
}

void HttpConnection::abort() {
  if (exchange_) exchange_->abort();
  if (phase_ == Phase::socket) websocket_->give_up();
  interrupt();
}

void HttpConnection::close_socket() {
  if (exchange_) exchange_->abort();
  if (phase_ == Phase::socket) websocket_->close(websocket::CloseCode::going_away, "the gateway ended the connection");
}

void HttpConnection::shut_down() {
  shutting_down_ = true;
  if (phase_ == Phase::socket)
    close_socket();
  else if (exchange_ && exchange_->upgraded())
    exchange_->abort();
  else if (phase_ == Phase::idle || phase_ == Phase::finishing)
    interrupt();
}

}  // namespace agw
