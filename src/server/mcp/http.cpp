// Streamable HTTP: requests, responses and streams of events. server.cpp handles the messages.
//
// `post` sends a response itself only for failures and messages without a stream. Every other response is sent from a
// stream (`deliver`): as plain JSON if it is quick, otherwise as events, which a client can resume on another
// connection.

#include <exception>
#include <utility>

#include <fmt/format.h>
#include <boost/algorithm/string/predicate.hpp>

#include "api/refusals.hpp"
#include "base/async/assert.hpp"
#include "base/json/bounded_json.hpp"
#include "base/text/numbers.hpp"
#include "features/integrations/protocol.hpp"
#include "server/mcp/api_caller.hpp"
#include "server/mcp/server.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

/// A response that takes longer starts as a stream, because clients and proxies close a silent connection.
constexpr auto json_response_timeout = 1s;
constexpr auto comment_interval = 15s;
constexpr std::size_t max_values = 500'000;
constexpr std::string_view priming_version = "2025-11-25";
constexpr int not_acceptable = 406, method_not_allowed = 405, not_found_status = 404;

bool accepts(const Request& request, std::string_view type) {
  const auto accept = request.header("accept");
  return !accept || boost::icontains(*accept, type) || accept->find("*/*") != accept->npos;
}

std::string event_of(const McpStream& stream, const McpStream::Message& message, bool has_id) {
  auto event = std::string("event: message\n");
  if (has_id) event += fmt::format("id: {}-{}\n", stream.key(), message.number);
  return event + "data: " + message.text + "\n\n";
}

/// `<stream>-<number>`.
std::optional<std::pair<std::string, std::uint64_t>> read_event_id(std::string_view id) {
  const auto dash = id.find('-');
  if (dash == id.npos) return std::nullopt;
  const auto number = parse_number<std::uint64_t>(id.substr(dash + 1));
  if (!number) return std::nullopt;
  return std::pair(std::string(id.substr(0, dash)), *number);
}

Task<> send_json(ProxyStream& http, int status, std::string_view body, Fields fields = {}) {
  if (!body.empty()) fields.emplace_back("Content-Type", std::string(json_content_type));
  if (!co_await http.begin({.status = status, .fields = std::move(fields), .length = body.size()})) co_return;
  if (!body.empty() && !co_await http.send(body)) co_return;
  co_await http.end();
}

ResponseHead events_head() { return {.fields = {{"Content-Type", "text/event-stream"}, {"X-Accel-Buffering", "no"}}}; }

Task<> wait_for(std::shared_ptr<McpStream> stream) { co_await stream->wait(); }

}  // namespace

Routes McpServer::routes() {
  // Separate routes, so that other methods return 405.
  auto posting = proxy("/mcp", "Answer a message of an MCP client", &McpServer::post, *this)
                     .any_object()
                     .responds<json::object>()
                     .fails_with({404, 406, 429});
  posting.method = Method::post;
  auto listening =
      proxy("/mcp", "Read the events of an MCP session", &McpServer::listen, *this).fails_with({400, 404, 405, 406});
  listening.method = Method::get;
  listening.effect = Effect::read;
  auto removing =
      proxy("/mcp", "End an MCP session", &McpServer::remove, *this).responds_no_content().fails_with({400, 404, 405});
  removing.method = Method::remove;
  for (auto* route : {&posting, &listening, &removing}) route->documented = true;
  return {std::move(posting), std::move(listening), std::move(removing)};
}

McpServer::Delivery McpServer::delivery_of(const Request& request, const McpExchangePointer& exchange) {
  const bool takes_events = accepts(request, "text/event-stream");
  return {.stream = exchange->stream,
          .session = exchange->session,
          .takes_json = !takes_events || accepts(request, "application/json"),
          .takes_events = takes_events || exchange->method == "subscriptions/listen"};
}

Task<std::string> McpServer::read_body(ProxyStream& http) const {
  std::string body;
  if (http.body_length().value_or(0) > options_.body_limit) throw body_too_large();
  for (;;) {
    const auto piece = co_await http.read();
    if (!piece) throw BadRequest("the body ended early");
    if (piece->empty()) co_return body;
    if (body.size() + piece->size() > options_.body_limit) throw body_too_large();
    body += *piece;
  }
}

/// Throws McpError -32700. Allows deeper nesting than other bodies, because the arguments of a call are nested within
/// it.
Task<json::value> McpServer::parse(std::string body) const {
  auto parsed = co_await services_.blocking.run_if(body.size() > large_mcp_text, [&body] {
    return parse_bounded_json(body, {.max_depth = max_own_json_depth, .max_values = max_values});
  });
  if (parsed.has_too_many_values) throw McpError(rpc_code::parse_error, "over 500,000 values", {}, 400);
  if (!parsed.value) throw McpError(rpc_code::parse_error, "not JSON", {}, 400);
  co_return *std::move(parsed.value);
}

Task<> McpServer::post(Request& request, ProxyStream& http) {
  std::optional<Reply> reply;
  auto body = co_await read_body(http);
  try {
    reply = co_await take(request, http, co_await parse(std::move(body)));
  } catch (const McpError& error) {
    reply = Reply{.status = error.status(), .body = mcp_error(nullptr, error)};
  }
  if (reply) co_await send_json(http, reply->status, reply->body, std::move(reply->fields));
}

Task<> McpServer::listen(Request& request, ProxyStream& http) {
  std::optional<McpError> problem;
  Delivery delivery;
  try {
    if (request.header("mcp-protocol-version") == mcp_modern_version)
      throw McpError(rpc_code::invalid_request, "this revision has no stream of its own: use subscriptions/listen", {},
                     method_not_allowed);
    if (!accepts(request, "text/event-stream"))
      throw McpError(rpc_code::invalid_request, "Accept must include text/event-stream", {}, not_acceptable);
    delivery.session = session_of(request);
    delivery.stream = delivery.session->general;
    delivery.after = delivery.stream->sent;
    if (const auto last = request.header("last-event-id")) {
      const auto place = read_event_id(*last);
      delivery.stream = place ? delivery.session->stream(place->first) : nullptr;
      delivery.after = place ? place->second : 0;
      // After an event that is still to come, the client would get none.
      if (delivery.stream && delivery.after > delivery.stream->latest()) delivery.stream = nullptr;
    }
    if (!delivery.stream) throw McpError(rpc_code::invalid_request, "unknown Last-Event-ID", {}, not_found_status);
  } catch (const McpError& error) {
    problem = error;
  }
  if (problem) {
    Fields fields;
    if (problem->status() == method_not_allowed) fields.emplace_back("Allow", "POST");
    co_return co_await send_json(http, problem->status(), mcp_error(nullptr, *problem), std::move(fields));
  }
  if (request.head) {
    // A probe must not replace the reader of the stream.
    if (co_await http.begin(events_head())) co_await http.end();
    co_return;
  }
  delivery.is_general = delivery.stream == delivery.session->general;
  co_await deliver(http, std::move(delivery));
}

Task<> McpServer::remove(Request& request, ProxyStream& http) {
  std::optional<McpError> problem;
  try {
    if (request.header("mcp-protocol-version") == mcp_modern_version)
      throw McpError(rpc_code::invalid_request, "this revision has no sessions", {}, method_not_allowed);
    sessions_.close(session_of(request));
  } catch (const McpError& error) {
    problem = error;
  }
  if (!problem) co_return co_await send_json(http, 204, {});
  Fields fields;
  if (problem->status() == method_not_allowed) fields.emplace_back("Allow", "POST");
  co_await send_json(http, problem->status(), mcp_error(nullptr, *problem), std::move(fields));
}

Task<> McpServer::watch_client(ProxyStream& http, std::shared_ptr<McpStream> stream, bool& gone) {
  co_await http.wait_for_disconnect();
  gone = true;
  stream->wake();
}

Task<> McpServer::deliver(ProxyStream& http, Delivery delivery) {
  AGW_ASSERT(delivery.stream);
  AGW_ASSERT(delivery.session || !delivery.is_general);
  AGW_ASSERT(delivery.takes_json || delivery.takes_events);
  bool gone = false;
  const StopSource::Listener cut_off(http.stop_source(), [&gone, stream = delivery.stream] {
    gone = true;
    stream->wake();
  });
  if (delivery.session) ++delivery.session->readers;
  TaskGroup watching(services_.loop);
  watching.spawn(watch_client(http, delivery.stream, gone));
  std::exception_ptr failure;
  try {
    co_await send_events(http, delivery, gone);
  } catch (...) {
    failure = std::current_exception();
  }
  watching.cancel();
  co_await watching.join();
  if (delivery.session) {
    AGW_ASSERT(delivery.session->readers > 0);
    --delivery.session->readers;
    delivery.session->used = Clock::now();
  }
  if (failure) std::rethrow_exception(failure);
}

Task<> McpServer::send_events(ProxyStream& http, Delivery& delivery, const bool& gone) {
  auto& stream = *delivery.stream;
  const bool has_ids = delivery.session != nullptr;
  const auto listener = delivery.is_general ? ++delivery.session->listener : 0;
  if (delivery.is_general) stream.wake();
  bool begun = false;
  StopSource never;
  for (;;) {
    const bool replaced = delivery.is_general && delivery.session->listener != listener;
    const auto* message = stream.after(delivery.after);
    if (gone || replaced) break;
    if (message && !delivery.takes_events && !message->is_response) {
      delivery.after = message->number;
      continue;
    }
    if (message && message->is_response && !begun && delivery.takes_json)
      co_return co_await send_json(http, stream.status(), std::string(message->text));
    const bool waits = !message && !stream.ended();
    if (waits && !begun && delivery.takes_json) {
      const auto end = co_await with_timeout(never, json_response_timeout, wait_for(delivery.stream));
      if (end != WaitResult::timed_out || !delivery.takes_events) continue;
    }
    if (!begun && (delivery.takes_events || stream.ended())) {
      begun = true;
      if (!co_await begin_events(http, delivery)) co_return;
      continue;
    }
    if (!message && stream.ended()) break;
    if (!message) {
      const auto end = co_await with_timeout(never, comment_interval, wait_for(delivery.stream));
      if (end == WaitResult::timed_out && !co_await http.send(": \n\n")) co_return;
      continue;
    }
    delivery.after = message->number;
    if (delivery.is_general) stream.sent = message->number;
    if (!co_await http.send(event_of(stream, *message, has_ids))) co_return;
  }
  if (begun && !gone) co_await http.end();
}

Task<bool> McpServer::begin_events(ProxyStream& http, const Delivery& delivery) {
  if (!co_await http.begin(events_head())) co_return false;
  const bool primes = delivery.session && delivery.session->version == priming_version && !delivery.is_general;
  if (primes && !co_await http.send(fmt::format("id: {}-{}\ndata: \n\n", delivery.stream->key(), delivery.after)))
    co_return false;
  co_return true;
}

}  // namespace agw
