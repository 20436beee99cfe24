// Handles messages from any client. http.cpp has the streams.

#include "server/mcp/server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/json/json_size.hpp"
#include "base/json/json_values.hpp"
#include "base/log.hpp"
#include "config/environment.hpp"
#include "config/settings.hpp"
#include "features/integrations/protocol.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

using namespace std::chrono_literals;

constexpr auto mcp_sweep_interval = 30s;
constexpr std::size_t max_modern_requests = 500;
constexpr std::size_t max_batch = 100;
constexpr std::string_view batching_version = "2025-03-26";
constexpr std::string_view session_header = "mcp-session-id";
constexpr int accepted_status = 202, bad_request_status = 400, unknown_session_status = 404, busy_status = 429;

McpError bad_request(const std::string& why) { return {rpc_code::invalid_request, why, {}, bad_request_status}; }

bool offers_all(const Request& request) { return request.parameter("tools") == "all"; }

}  // namespace

McpServer::McpServer(const McpServices& services, Options options)
    : services_(services),
      options_(std::move(options)),
      api_(services.idempotency, services.blocking, services.hub, options_.body_limit),
      sessions_(services.loop),
      methods_(services, api_, sessions_, options_.fixture_url),
      calls_(services.loop),
      background_(services.loop) {}

void McpServer::start() {
  background_.spawn(sweep());
  background_.spawn(methods_.changes().watch_pages(stopping_));
}

Task<> McpServer::stop() {
  stopping_.request();
  for (const auto& weak : modern_) {
    if (const auto exchange = weak.lock()) exchange->stop.request();
  }
  sessions_.close_all();
  methods_.stop();
  co_await calls_.join();
  AGW_ASSERT(sessions_.all().empty());
  co_await background_.join();
}

Task<> McpServer::sweep() {
  while (co_await pause(stopping_, mcp_sweep_interval) == WaitResult::done) {
    sessions_.close_idle(McpClientSession::Clock::now());
    methods_.forget_abandoned();
    std::erase_if(modern_, [](const auto& exchange) { return exchange.expired(); });
  }
}

/// The response to a message, unless it is sent as a stream.
Task<std::optional<McpServer::Reply>> McpServer::take(Request& request, ProxyStream& http, json::value value) {
  json::value id;
  std::optional<Reply> reply;
  try {
    if (value.is_array()) co_return co_await take_batch(request, std::move(value.get_array()));
    auto message = read_mcp_message(value, id);
    if (is_modern_message(request, message))
      reply = co_await take_modern(request, http, std::move(message));
    else
      reply = co_await take_legacy(request, http, std::move(message));
  } catch (const McpError& error) {
    const int status = error.status() == 200 ? bad_request_status : error.status();
    reply = Reply{.status = status, .body = mcp_error(id, error)};
  }
  co_return reply;
}

McpClientSessionPointer McpServer::session_of(const Request& request) {
  const auto id = request.header(session_header);
  if (!id) throw bad_request("Mcp-Session-Id is required: send initialize first");
  const auto session = sessions_.find(*id);
  if (!session)
    throw McpError(rpc_code::invalid_request, "session not found: send initialize again", {}, unknown_session_status);
  const auto version = request.header("mcp-protocol-version");
  if (version && *version != session->version)
    throw bad_request(fmt::format("MCP-Protocol-Version must be {}, which was negotiated", session->version));
  return session;
}

/// Handles a notification or response of a session; no value for a request.
std::optional<McpServer::Reply> McpServer::take_other(const McpClientSessionPointer& session, McpMessage& message) {
  if (message.kind == McpMessage::Kind::request) return std::nullopt;
  if (message.kind == McpMessage::Kind::response)
    session->take_answer(message.id, std::move(message.result), message.is_error);
  else if (message.method == "notifications/cancelled")
    session->cancel(message.params);
  return Reply{.status = accepted_status};
}

McpExchangePointer McpServer::legacy_exchange(const Request& request, const McpClientSessionPointer& session,
                                              McpMessage message) {
  auto exchange = std::make_shared<McpExchange>();
  exchange->id = std::move(message.id);
  exchange->method = std::move(message.method);
  exchange->params = std::move(message.params);
  exchange->offers_all = offers_all(request);
  exchange->capabilities = session->capabilities;
  exchange->session = session;
  exchange->stream = std::make_shared<McpStream>(services_.loop, std::to_string(++streams_));
  session->begin(exchange);
  calls_.spawn(work(exchange));
  return exchange;
}

Task<std::optional<McpServer::Reply>> McpServer::take_legacy(Request& request, ProxyStream& http, McpMessage message) {
  if (message.kind == McpMessage::Kind::request && message.method == "initialize") {
    if (request.header(session_header)) throw bad_request("the session is initialized already");
    co_return initialize(message);
  }
  const auto session = session_of(request);
  if (auto reply = take_other(session, message)) co_return reply;
  const auto exchange = legacy_exchange(request, session, std::move(message));
  co_await deliver(http, delivery_of(request, exchange));
  co_return std::nullopt;
}

McpServer::Reply McpServer::initialize(const McpMessage& message) {
  if (stopping_.requested()) throw bad_request("the gateway is stopping");
  const auto wanted = string_or_empty(message.params, "protocolVersion");
  if (wanted.empty()) throw McpError(rpc_code::invalid_params, "protocolVersion is required");
  const auto* known = std::ranges::find(mcp_legacy_versions, wanted);
  const auto version = known == mcp_legacy_versions.end() ? mcp_legacy_versions.front() : *known;
  const auto session = sessions_.open(std::string(version), object_or_empty(message.params, "capabilities"));
  return {.body = mcp_result(message.id, McpMethods::initialized(version)),
          .fields = {{"Mcp-Session-Id", session->id}}};
}

/// Only 2025-03-26 has batches. The responses are collected, so requests to the client would have no stream.
Task<McpServer::Reply> McpServer::take_batch(Request& request, json::array batch) {
  if (batch.empty()) throw bad_request("a batch must not be empty");
  const auto session = session_of(request);
  if (session->version != batching_version) throw bad_request("this revision has no batches");
  if (batch.size() > max_batch) throw bad_request(fmt::format("a batch has at most {} messages", max_batch));
  std::vector<McpExchangePointer> exchanges;
  std::string responses;
  const auto add = [&](std::string_view response) {
    responses += responses.empty() ? '[' : ',';
    responses += response;
  };
  for (auto& value : batch) {
    json::value id;
    try {
      auto message = read_mcp_message(value, id);
      if (message.method == "initialize") throw bad_request("initialize must not be part of a batch");
      if (take_other(session, message)) continue;
      exchanges.push_back(legacy_exchange(request, session, std::move(message)));
    } catch (const McpError& error) {
      add(mcp_error(id, error));
    }
  }
  for (const auto& exchange : exchanges) {
    while (!exchange->stream->ended()) co_await exchange->stream->wait();
    const auto latest = exchange->stream->latest();
    const auto* response = latest ? exchange->stream->after(latest - 1) : nullptr;
    if (response && response->is_response) add(response->text);
  }
  if (responses.empty()) co_return Reply{.status = accepted_status};
  co_return Reply{.body = responses + ']'};
}

Task<std::optional<McpServer::Reply>> McpServer::take_modern(Request& request, ProxyStream& http, McpMessage message) {
  if (message.kind == McpMessage::Kind::response) throw bad_request("this revision has no responses of clients");
  if (message.kind == McpMessage::Kind::notification) co_return Reply{.status = accepted_status};
  check_modern_request(request, message);
  std::erase_if(modern_, [](const auto& one) { return one.expired(); });
  if (modern_.size() >= max_modern_requests || stopping_.requested())
    throw McpError(rpc_code::invalid_request, "too many requests are being answered", {}, busy_status);
  auto exchange = std::make_shared<McpExchange>();
  exchange->id = std::move(message.id);
  exchange->method = std::move(message.method);
  exchange->params = std::move(message.params);
  exchange->is_modern = true;
  exchange->offers_all = offers_all(request);
  exchange->capabilities = object_or_empty(object_or_empty(exchange->params, "_meta"), mcp_client_capabilities_key);
  exchange->stream = std::make_shared<McpStream>(services_.loop);
  modern_.push_back(exchange);
  calls_.spawn(work(exchange));
  co_await deliver(http, delivery_of(request, exchange));
  exchange->stop.request();  // a client that closes the stream cancels the request
  co_return std::nullopt;
}

Task<> McpServer::work(McpExchangePointer exchange) {
  co_await respond(exchange);
  if (!exchange->stream->ended()) exchange->stream->close();
  AGW_ASSERT(exchange->stream->ended());
  AGW_ASSERT(exchange->is_modern == !exchange->session);
  if (exchange->session) exchange->session->end(exchange);
}

Task<> McpServer::respond(McpExchangePointer exchange) {
  std::optional<McpError> problem;
  try {
    auto result = co_await methods_.answer(exchange);
    if (!result) co_return;
    if (exchange->is_modern && !result->contains("resultType")) result->emplace("resultType", "complete");
    auto text = co_await services_.blocking.run_if(json_size(*result, large_mcp_text) >= large_mcp_text, [&] {
      return mcp_result(exchange->id, *std::exchange(result, {}));
    });
    exchange->stream->finish(std::move(text), 200);
  } catch (const McpError& error) {
    problem = error;
  } catch (const std::exception& error) {
    log::error("MCP: {} failed: {}", exchange->method, error.what());
    problem.emplace(rpc_code::internal_error, "internal error");
  }
  if (problem) exchange->stream->finish(mcp_error(exchange->id, *problem), problem->status());
}

McpServer::Options mcp_options(const Settings& settings) {
  return {.body_limit = settings.limits.body_bytes(),
          .fixture_url = process_environment()("AGENT_GATEWAY_TEST_MCP_FIXTURE").value_or("")};
}

}  // namespace agw
