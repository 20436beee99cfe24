// MCP over HTTP+SSE.
//
//   1. `open`: a GET opens the stream (`receive`), whose event `endpoint` names the address for messages.
//   2. `send_request`: each message is a POST, whose response says only whether it was received. The answer is an event
//      of the stream, and may come first.
//   3. When the stream ends, the server has forgotten the session: `fail` ends all requests, and the integration opens
//      another session.

#include "features/integrations/sse_transport.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "features/integrations/protocol.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto max_sse_call_time = 600s;
constexpr auto open_limit = 30s;
constexpr auto no_silence_limit = 24h;

}  // namespace

SseTransport::SseTransport(Loop& loop, HttpClient& http, McpHttpServer server)
    : http_(http), server_(std::move(server)), group_(loop), pending_(loop), opened_(loop), failed_(loop) {
  group_.on_failure([integration = server_.name](const std::exception_ptr& failure) {
    log::warn("integration {}: {}", integration, message_of(failure));
  });
}

SseTransport::~SseTransport() = default;

Task<std::string> SseTransport::open(StopSource& stop) {
  group_.spawn(receive());
  if (co_await with_timeout(stop, open_limit, opened_.wait()) != WaitResult::done) fail("it opened no event stream");
  co_return failure_;
}

Task<> SseTransport::receive() {
  std::string problem;
  const auto events = split_events([this](const Frame& frame) { take_frame(frame); }, max_message_bytes);
  const auto outcome = co_await send("", [&](const HttpHead& head, std::string_view bytes) {
    if (!is_event_stream(head)) return BodyAction::abandon;
    if (!events->feed(bytes)) fail("it sent a message of more than 8 MiB");
    return failed_.happened() ? BodyAction::abandon : BodyAction::more;
  });
  fail(outcome.head.status == 200 ? "its event stream ended"
                                  : fmt::format("it answered with status {}", outcome.head.status));
}

/// Sends a request without a body to the server's own address, any other to the endpoint.
Task<HttpOutcome> SseTransport::send(std::string body, OnBody on_body) {
  for (bool may_repeat = true;; may_repeat = false) {
    HttpRequest request{.method = body.empty() ? "GET" : "POST",
                        .body = body,
                        .idle_timeout = body.empty() ? milliseconds(no_silence_limit) : max_sse_call_time,
                        .max_body_bytes = std::numeric_limits<std::size_t>::max(),
                        .public_only = !server_.may_be_private};
    FilledSecrets secrets;
    try {
      auto address = co_await server_.address();
      url_ = std::move(address.url);
      secrets = secrets_ = std::move(address.secrets);
      request.headers = std::move(address.headers);
    } catch (const SecretError& error) {
      co_return HttpOutcome{.error = error.what()};
    }
    const auto authorization = authorization_of(request.headers);
    request.url = body.empty() ? url_.text() : endpoint_;
    request.headers.push_back({"Accept", body.empty() ? "text/event-stream" : "*/*"});
    if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    auto outcome = co_await http_.send(std::move(request), on_body, closing_);
    // Another request may have replaced `secrets_` meanwhile.
    outcome.error = secrets.hidden_in(outcome.error);
    const auto refusal = refusal_in(outcome.head, authorization);
    if (!refusal || !may_repeat || !co_await server_.on_refusal(*refusal)) co_return outcome;
  }
}

void SseTransport::take_frame(const Frame& frame) {
  if (frame.event != "endpoint") return take(read_rpc(frame.data));
  const auto named = url_.resolve(frame.data);
  // Another host must not get the headers, which may contain keys. Scheme and port of servers behind a proxy are often
  // wrong.
  if (!named || named->host() != url_.host()) return fail("its event stream names an endpoint on another host");
  endpoint_ = fmt::format("{}{}", url_.origin(), named->target());
  opened_.notify();
}

void SseTransport::take(RpcMessage message) {
  if (message.kind == RpcMessage::Kind::response) hide_in_errors(message, secrets_);
  pass_on(message, pending_);
}

Task<RpcResponse> SseTransport::send_request(RpcRequest request, StopSource& stop) {
  const auto id = pending_.next_id();
  PendingRequests::Waiting waiting(pending_, id);
  add_progress_token(request.params, id);
  start_post(rpc_request(id, request.method, std::move(request.params)));
  auto response = co_await waiting.response(request.limit, std::max<milliseconds>(request.limit, max_sse_call_time),
                                            stop, request.waits);
  const bool is_given_up = response.timed_out || stop.requested();
  if (is_given_up && request.method != "initialize")
    start_post(rpc_notification("notifications/cancelled", {{"requestId", id}, {"reason", "given up"}}));
  co_return response;
}

Task<> SseTransport::notify(std::string method, json::object params) {
  co_await post(rpc_notification(method, std::move(params)));
}

void SseTransport::respond(json::object reply) {
  if (group_.size() < max_background_messages) start_post(std::move(reply));
}

void SseTransport::start_post(json::object message) {
  if (!failed_.happened()) group_.spawn(post(std::move(message)));
}

/// A request that the server did not receive ends with an error.
Task<> SseTransport::post(json::object message) {
  const auto outcome = co_await send(to_json(message), [](const auto&, auto) { return BodyAction::enough; });
  const auto status = outcome.head.status;
  if (status / 100 == 2 || !message.contains("method") || !message.contains("id")) co_return;
  auto why = status == 0 ? outcome.error : fmt::format("it refused the message with status {}", status);
  pending_.take({.kind = RpcMessage::Kind::response,
                 .id = message["id"],
                 .error = RpcError{.code = rpc_code::internal_error, .message = std::move(why)}});
}

Task<std::string> SseTransport::wait_for_failure() {
  co_await failed_.wait();
  co_return failure_;
}

void SseTransport::fail(std::string why) {
  if (failed_.happened()) return;
  failure_ = why;
  pending_.fail_all(why);
  failed_.notify();
  opened_.notify();
}

Task<> SseTransport::close(milliseconds) {
  fail(closed_here);
  closing_.request();
  group_.cancel();
  co_await group_.join();
}

}  // namespace agw
