// MCP over HTTP: one POST for each message, in two eras of the protocol.
//
// In the *legacy* era, a server may open a *session* by a header of its response to `initialize`. A GET then receives
// the server's own messages, and an event stream that breaks is resumed with `Last-Event-ID`. In the *modern* era, each
// request is independent, and closing its connection cancels it.
//
// A `PendingRequest` is one request up to its response, possibly across several HTTP exchanges. It ends in exactly one
// of three ways: `response` is set, `problem` has the reason why there is no response, or the wait was ended by the
// caller's stop, its limit or `close`.
//
//   1. `post`: requests the address each time, because its secrets and token may have changed. After a 401 or 403,
//      `on_refusal` may obtain new credentials; the request is then sent once more, and never a third time. A redirect
//      to another path is followed and remembered.
//   2. `send`: receives one HTTP response. An event stream is split into frames; any other body is collected, up to
//      8 MiB, and contains at most one message.
//   3. `take`: passes requests and notifications of the server to the session; the response with our id ends the
//      exchange.
//   4. A legacy stream that ends without the response is resumed, at most ten times (`exchange`).
//
// A 404 in a session means that the server no longer knows the session: `fail` ends it, and the request reports
// `session_lost`, so that the call is repeated in a new one. Many servers send a 400 or 401 instead, with a reason.
//
// `close` first abandons active requests, unless the session is already dead and they report the reason. It then ends
// the session with a DELETE, within its time limit. After a kill, the server has to expire the session itself.

#include "features/integrations/http_transport.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>

#include "base/async/assert.hpp"
#include "base/error.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "base/text/numbers.hpp"
#include "features/integrations/sse_transport.hpp"
#include "models/frames.hpp"
#include "models/wire_format.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto max_http_call_time = 600s;
constexpr auto default_retry = 1000ms;
constexpr auto max_retry = 60'000ms;
constexpr int max_resumes = 10;
constexpr int max_redirects = 3;
constexpr auto no_idle_timeout = 24h;
constexpr auto stable_stream = 10s;  // of the stream for the server's own messages
constexpr auto too_long = "it sent a message of more than 8 MiB";

bool is_visible(std::string_view text) {
  return !text.empty() && text.size() <= 1024 && std::ranges::all_of(text, [](char c) { return c > 0x20 && c < 0x7f; });
}

bool is_redirect(int status) { return status == 301 || status == 302 || status == 307 || status == 308; }

/// A header value in the protocol's encoding for text that is not plain ASCII.
std::string header_value(const std::string& text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; }) &&
                        !text.starts_with(' ') && !text.ends_with(' ') && !text.starts_with("=?base64?");
  return is_plain ? text : "=?base64?" + base64(text) + "?=";
}

/// The headers of a request in the modern protocol.
std::vector<HttpHeader> modern_headers(const RpcRequest& rpc) {
  std::vector<HttpHeader> headers{{"Mcp-Method", rpc.method}};
  const auto name = string_member(rpc.params, rpc.method == "resources/read" ? "uri" : "name");
  if (name) headers.push_back({"Mcp-Name", header_value(std::string(*name))});
  for (const auto& [header, value] : rpc.headers) headers.push_back({header, header_value(value)});
  return headers;
}

}  // namespace

std::string authorization_of(const std::vector<HttpHeader>& headers) {
  const auto found =
      std::ranges::find_if(headers, [](const auto& each) { return boost::iequals(each.name, "Authorization"); });
  return found == headers.end() ? std::string() : found->value;
}

std::optional<McpRefusal> refusal_in(const HttpHead& head, const std::string& authorization) {
  if (head.status != 401 && head.status != 403) return std::nullopt;
  return McpRefusal{.status = head.status,
                    .challenge = std::string(head.header("www-authenticate").value_or("")),
                    .authorization = authorization};
}

bool is_event_stream(const HttpHead& head) {
  return head.status == 200 && boost::istarts_with(head.header("content-type").value_or(""), "text/event-stream");
}

/// A request and the state of its response, possibly across several HTTP exchanges.
class HttpTransport::PendingRequest {
public:
  json::object message;  ///< empty: the request only receives
  std::string method;
  std::vector<HttpHeader> headers;  ///< of this message
  FilledSecrets secrets;            ///< of its latest HTTP request
  milliseconds idle_timeout{60'000};
  const WaitClock* waits = nullptr;
  WebUrl configured;  ///< the address of its latest HTTP request, before redirects
  WebUrl url;
  std::optional<WebUrl> redirect;
  int redirects = 0;
  std::optional<RpcResponse> response;
  int status = 0;
  std::string last_event;
  milliseconds retry = default_retry;
  bool is_stream = false;
  bool was_refused = false;
  std::string body;
  std::string problem;
  std::optional<McpRefusal> refusal;
  std::unique_ptr<FrameSplitter> events;

  bool expects(const RpcMessage& found) const {
    const auto* id = message.if_contains("id");
    return id && found.id == *id;
  }

  bool is_unauthorized() const { return status == 401 || status == 403; }

  /// Whether the response says that the server does not know the session.
  bool says_session_is_lost() const {
    return status == 404 || ((status == 400 || status == 401) &&
                             (boost::icontains(body, "session") || boost::icontains(body, "not initialized")));
  }

  void note(const Frame& frame) {
    if (!frame.id.empty()) last_event = frame.id.substr(0, 1024);
    if (const auto number = parse_number<int>(frame.retry); number >= 0)
      retry = std::min<milliseconds>(milliseconds(*number), max_retry);
  }
};

HttpTransport::HttpTransport(Loop& loop, HttpClient& http, McpHttpServer server)
    : loop_(loop), http_(http), server_(std::move(server)), group_(loop), failed_(loop) {
  group_.on_failure([integration = server_.name](const std::exception_ptr& failure) {
    log::warn("integration {}: {}", integration, message_of(failure));
  });
}

HttpTransport::~HttpTransport() = default;

std::unique_ptr<McpTransport> HttpTransport::older() const {
  return std::make_unique<SseTransport>(loop_, http_, server_);
}

Task<std::string> HttpTransport::open(StopSource&) {
  try {
    co_return (co_await server_.address()).problem;
  } catch (const SecretError& error) {
    co_return error.what();
  }
}

void HttpTransport::set_protocol(McpEra era, std::string version) {
  era_ = era;
  version_ = std::move(version);
}

bool HttpTransport::may_spawn() const { return group_.size() < max_background_messages && !closing_.requested(); }

void HttpTransport::fail(std::string why) {
  AGW_ASSERT(!why.empty());
  if (failed_.happened()) return;
  failure_ = std::move(why);
  failed_.notify();
}

Task<std::string> HttpTransport::wait_for_failure() {
  co_await failed_.wait();
  AGW_ASSERT(!failure_.empty());
  co_return failure_;
}

Task<RpcResponse> HttpTransport::send_request(RpcRequest rpc, StopSource& stop) {
  PendingRequest exchange;
  const auto id = ++last_id_;
  exchange.method = rpc.method;
  exchange.idle_timeout = std::min<milliseconds>(rpc.limit, no_idle_timeout);
  exchange.waits = rpc.waits;
  if (era_ == McpEra::modern) exchange.headers = modern_headers(rpc);
  add_progress_token(rpc.params, id);
  exchange.message = rpc_request(id, rpc.method, std::move(rpc.params));
  StopSource over;
  const auto end_it = [&over] { over.request(); };
  const StopSource::Listener stopped(stop, end_it);
  const StopSource::Listener left(leaving_, end_it);
  auto end = WaitResult::done;
  try {
    // A call that may wait for a person has no limit here: its caller limits the time.
    const auto max_total = rpc.waits ? no_limit : std::max<milliseconds>(rpc.limit, max_http_call_time);
    end = co_await with_timeout(over, max_total, this->exchange(exchange, over));
  } catch (const SecretError& error) {
    exchange.problem = error.what();
  }
  if (exchange.response) co_return std::move(*exchange.response);
  if (end == WaitResult::done && !over.requested()) {
    // Without a problem, this would count as success.
    AGW_ASSERT(!exchange.problem.empty());
    co_return RpcResponse{.problem = exchange.problem};
  }
  // In the modern protocol, closing the connection cancels the request.
  if (era_ == McpEra::legacy && rpc.method != "initialize" && may_spawn()) {
    group_.spawn(
        post_message(rpc_notification("notifications/cancelled", {{"requestId", id}, {"reason", "given up"}})));
  }
  if (leaving_.requested() && !stop.requested()) co_return RpcResponse{.problem = closed_here};
  co_return RpcResponse{.problem = stop.requested() ? "stopped" : "no answer in time", .timed_out = !stop.requested()};
}

Task<> HttpTransport::exchange(PendingRequest& exchange, StopSource& stop) {
  co_await post(exchange, stop);
  for (int resumes = 0; !exchange.response && exchange.problem.empty(); ++resumes) {
    const bool may_resume = era_ == McpEra::legacy && exchange.is_stream && !exchange.last_event.empty();
    if (!may_resume || resumes == max_resumes) {
      exchange.problem = "the connection ended before the answer";
      co_return;
    }
    co_await pause(stop, exchange.retry);
    if (stop.requested()) co_return;
    co_await resume(exchange, stop);
  }
}

Task<> HttpTransport::post(PendingRequest& exchange, StopSource& stop) {
  do {
    auto made = co_await request("POST", exchange);
    made.headers.push_back({"Content-Type", "application/json"});
    made.headers.push_back({"Accept", "application/json, text/event-stream"});
    made.headers.insert(made.headers.end(), exchange.headers.begin(), exchange.headers.end());
    made.body = to_json(exchange.message);
    co_await send(exchange, std::move(made), stop);
  } while (follow_redirect(exchange) || co_await may_try_again(exchange));
}

/// Follows only to another path of the same origin, because the headers may contain keys. Servers behind a proxy often
/// name a wrong scheme and port, so these are kept.
bool HttpTransport::follow_redirect(PendingRequest& exchange) {
  if (!exchange.redirect) return false;
  if (exchange.redirect->host() != exchange.url.host()) {
    const auto& there = exchange.redirect->origin();
    exchange.response = RpcResponse{.problem = exchange.secrets.hidden_in(fmt::format(
                                        "it redirects to {}: if you trust that address, use it as the `url`", there))};
    return false;
  }
  if (++exchange.redirects > max_redirects) return false;
  moved_ = {exchange.configured.text(), fmt::format("{}{}", exchange.url.origin(), exchange.redirect->target())};
  exchange.response.reset();
  exchange.problem.clear();
  return true;
}

/// Returns true at most once per request, because a rejection of new credentials is final.
Task<bool> HttpTransport::may_try_again(PendingRequest& exchange) {
  if (!exchange.refusal || exchange.was_refused) co_return false;
  exchange.was_refused = true;
  if (!co_await server_.on_refusal(*std::exchange(exchange.refusal, std::nullopt))) co_return false;
  exchange.response.reset();
  exchange.problem.clear();
  co_return true;
}

Task<> HttpTransport::resume(PendingRequest& exchange, StopSource& stop) {
  AGW_ASSERT(era_ == McpEra::legacy);
  AGW_ASSERT(!exchange.response);
  auto made = co_await request("GET", exchange);
  made.headers.push_back({"Accept", "text/event-stream"});
  if (!exchange.last_event.empty()) made.headers.push_back({"Last-Event-ID", exchange.last_event});
  co_await send(exchange, std::move(made), stop);
}

Task<HttpRequest> HttpTransport::request(std::string method, PendingRequest& exchange) {
  HttpRequest made{.method = std::move(method),
                   .idle_timeout = exchange.idle_timeout,
                   .waits = exchange.waits,
                   .max_body_bytes = 4 * max_message_bytes,
                   .public_only = !server_.may_be_private};
  auto address = co_await server_.address();
  exchange.configured = exchange.url = std::move(address.url);
  if (moved_.first == exchange.url.text()) exchange.url = WebUrl::parse(moved_.second).value_or(exchange.url);
  made.url = exchange.url.text();
  made.headers = std::move(address.headers);
  exchange.secrets = std::move(address.secrets);
  if (!version_.empty()) made.headers.push_back({"MCP-Protocol-Version", version_});
  if (!session_.empty()) made.headers.push_back({"Mcp-Session-Id", session_});
  co_return made;
}

/// Receives one HTTP response, a single body or an event stream.
Task<> HttpTransport::send(PendingRequest& exchange, HttpRequest made, StopSource& stop) {
  exchange.body.clear();
  exchange.events.reset();
  const auto authorization = authorization_of(made.headers);
  const auto on_body = [&](const HttpHead& head, std::string_view bytes) { return take_bytes(exchange, head, bytes); };
  const auto outcome = co_await http_.send(std::move(made), on_body, stop);
  exchange.status = outcome.head.status;
  exchange.is_stream = is_event_stream(outcome.head);
  if (auto refusal = refusal_in(outcome.head, authorization)) exchange.refusal = std::move(refusal);
  const auto location = outcome.head.header("location");
  exchange.redirect = location && is_redirect(exchange.status) ? exchange.url.resolve(*location) : std::nullopt;
  const auto session = outcome.head.header("mcp-session-id");
  if (exchange.method == "initialize" && session && is_visible(*session)) session_ = *session;
  if (exchange.response || !exchange.problem.empty()) co_return;
  if (exchange.is_stream && exchange.events) exchange.events->finish();
  if (exchange.is_stream) co_return;
  if (outcome.end != HttpOutcome::End::complete)
    exchange.problem = exchange.secrets.hidden_in(outcome.error);
  else
    take_body(exchange);
}

BodyAction HttpTransport::take_bytes(PendingRequest& exchange, const HttpHead& head, std::string_view bytes) {
  if (is_event_stream(head)) return take_events(exchange, bytes);
  if (exchange.body.size() + bytes.size() > max_message_bytes) {
    exchange.problem = too_long;
    return BodyAction::abandon;
  }
  exchange.body += bytes;
  return BodyAction::more;
}

BodyAction HttpTransport::take_events(PendingRequest& exchange, std::string_view bytes) {
  if (!exchange.events) {
    exchange.events = split_events(
        [this, &exchange](const Frame& frame) {
          exchange.note(frame);
          take(exchange, read_rpc(frame.data));
        },
        max_message_bytes);
  }
  if (!exchange.events->feed(bytes)) exchange.problem = too_long;
  if (!exchange.problem.empty()) return BodyAction::abandon;
  return exchange.response ? BodyAction::enough : BodyAction::more;
}

/// Handles a complete body: at most one message.
void HttpTransport::take_body(PendingRequest& exchange) {
  take(exchange, read_rpc(exchange.body));
  const bool is_session_lost = !session_.empty() && exchange.says_session_is_lost();
  if (is_session_lost) fail("its session is over");
  if (exchange.response && (exchange.status < 400 || exchange.response->error)) {
    exchange.response->status = exchange.status;
    exchange.response->session_lost = is_session_lost;
  } else if (is_session_lost) {
    exchange.response = RpcResponse{.problem = "its session is over", .session_lost = true, .status = exchange.status};
  } else if (exchange.is_unauthorized()) {
    exchange.response =
        RpcResponse{.problem = fmt::format(
                        "it rejects these credentials (status {}): run `agw ext login {}`, or set them in `headers`",
                        exchange.status, server_.name),
                    .status = exchange.status};
  } else if (exchange.status != 202 || exchange.message.contains("id")) {
    exchange.response =
        RpcResponse{.problem = fmt::format("it answered with status {} and no message", exchange.status),
                    .status = exchange.status};
  }
}

void HttpTransport::take(PendingRequest& exchange, RpcMessage message) {
  switch (message.kind) {
    case RpcMessage::Kind::request:
      if (!on_request_(message)) respond(rpc_reply(message));
      return;
    case RpcMessage::Kind::notification:
      return on_notice_(message);
    case RpcMessage::Kind::response:
      // An error without id is for this request, too: the server could not parse it.
      if (exchange.expects(message) || (message.id.is_null() && message.error)) {
        hide_in_errors(message, exchange.secrets);
        exchange.response = RpcResponse{.result = std::move(message.result), .error = std::move(message.error)};
      }
      return;
    case RpcMessage::Kind::invalid:
      return;
  }
}

void HttpTransport::respond(json::object reply) {
  if (may_spawn()) group_.spawn(post_message(std::move(reply)));
}

/// Sends a message that has no response.
Task<> HttpTransport::post_message(json::object message) {
  PendingRequest exchange;
  exchange.message = std::move(message);
  exchange.idle_timeout = 10s;
  try {
    co_await post(exchange, closing_);
  } catch (const SecretError& error) {
    log::warn("integration {}: {}", server_.name, error.what());
  }
}

Task<> HttpTransport::notify(std::string method, json::object params) {
  co_await post_message(rpc_notification(method, std::move(params)));
}

void HttpTransport::listen() {
  if (era_ == McpEra::legacy) group_.spawn(listen_in_session());
}

/// Receives the server's own messages, unless it offers no stream. Proxies end silent streams, and a server may be
/// restarted.
Task<> HttpTransport::listen_in_session() {
  PendingRequest exchange;
  exchange.idle_timeout = no_idle_timeout;
  auto wait = default_retry;
  while (!closing_.requested()) {
    const auto began = steady_clock::now();
    co_await resume(exchange, closing_);
    const bool is_refused = !exchange.is_stream && exchange.status != 0 && exchange.status < 500;
    if (is_refused) co_return;
    wait = steady_clock::now() - began > stable_stream ? default_retry : std::min(wait * 2, max_retry);
    co_await pause(closing_, std::max(exchange.retry, wait));
    exchange.response.reset();
    exchange.problem.clear();
  }
}

Task<> HttpTransport::close(milliseconds limit) {
  // The requests of a failed session end on their own and report the cause.
  if (!failed_.happened()) leaving_.request();
  fail(closed_here);
  closing_.request();
  if (!session_.empty()) {
    const auto leave = [](HttpTransport& self) -> Task<> {
      PendingRequest exchange;
      StopSource never;
      auto made = co_await self.request("DELETE", exchange);
      co_await self.http_.send(std::move(made), [](const auto&, auto) { return BodyAction::abandon; }, never);
    };
    StopSource never;
    try {
      co_await with_timeout(never, limit, leave(*this));
    } catch (const SecretError&) {
      log::info("integration {}: its session is left open, because a secret is missing", server_.name);
    }
  }
  group_.cancel();
  co_await group_.join();
}

}  // namespace agw
