#include "server/mcp/session.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/async/assert.hpp"
#include "base/containers.hpp"
#include "base/id.hpp"
#include "base/json/json_values.hpp"
#include "features/integrations/protocol.hpp"
#include "server/mcp/message.hpp"

namespace agw {

namespace {

constexpr int too_many_requests = 429;
constexpr std::size_t session_id_bytes = 16;
constexpr std::array<std::string_view, 8> log_levels{"debug", "info",     "notice", "warning",
                                                     "error", "critical", "alert",  "emergency"};

auto severity(std::string_view level) { return std::ranges::find(log_levels, level) - log_levels.begin(); }

}  // namespace

void McpExchange::report_progress(double by, const std::string& text) {
  AGW_ASSERT(by > 0);  // clients require that progress increases
  const auto meta = object_or_empty(params, "_meta");
  const auto* token = meta.if_contains("progressToken");
  if (!token || (!token->is_string() && !token->is_int64())) return;
  progress += by;
  stream->push(mcp_notification("notifications/progress",
                                {{"progressToken", *token}, {"progress", progress}, {"message", to_utf8(text)}}));
}

void McpExchange::log(std::string_view level, const std::string& text) const {
  AGW_ASSERT(is_modern || session);
  AGW_ASSERT(contains(log_levels, level));
  const auto meta = object_or_empty(params, "_meta");
  const auto named = string_member(meta, mcp_log_level_key);
  const auto wanted = is_modern ? (named ? std::optional(std::string(*named)) : std::nullopt) : session->log_level;
  if (!wanted || severity(level) < severity(*wanted)) return;
  stream->push(mcp_notification("notifications/message",
                                {{"level", level}, {"logger", "agent-gateway"}, {"data", to_utf8(text)}}));
}

McpClientSession::McpClientSession(Loop& loop, std::string revision, json::object declared)
    : id(random_hex(session_id_bytes)),
      version(std::move(revision)),
      capabilities(std::move(declared)),
      general(std::make_shared<McpStream>(loop, "0")) {}

void McpClientSession::begin(const McpExchangePointer& exchange) {
  AGW_ASSERT(exchange->session.get() == this);
  AGW_ASSERT(exchange->stream);
  AGW_ASSERT(!closed);
  if (requests.size() >= max_requests)
    throw McpError(rpc_code::invalid_request, fmt::format("{} requests are being answered already", max_requests), {},
                   too_many_requests);
  if (!requests.emplace(to_json(exchange->id), exchange).second)
    throw McpError(rpc_code::invalid_request, "a request with this id is being answered already", {}, 400);
  used = Clock::now();
}

void McpClientSession::end(const McpExchangePointer& exchange) {
  const auto erased = requests.erase(to_json(exchange->id));
  AGW_ASSERT(erased == 1);
  AGW_ASSERT(exchange->stream->ended());
  ended_streams.push_back(exchange->stream);
  std::size_t bytes = 0;
  for (const auto& stream : ended_streams) bytes += stream->size();
  while (ended_streams.size() > max_ended_streams || (bytes > max_ended_bytes && ended_streams.size() > 1)) {
    bytes -= ended_streams.front()->size();
    ended_streams.pop_front();
  }
  used = Clock::now();
}

void McpClientSession::cancel(const json::object& notification) {
  const auto* request = notification.if_contains("requestId");
  const auto found = request ? requests.find(to_json(*request)) : requests.end();
  if (found != requests.end()) found->second->stop.request();
}

std::shared_ptr<McpStream> McpClientSession::stream(std::string_view key) const {
  if (key == general->key()) return general;
  for (const auto& [request, exchange] : requests) {
    if (exchange->stream->key() == key) return exchange->stream;
  }
  const auto ended = std::ranges::find(ended_streams, key, [](const auto& one) { return one->key(); });
  return ended == ended_streams.end() ? nullptr : *ended;
}

Task<std::optional<json::object>> McpClientSession::ask(McpExchangePointer exchange, std::string method,
                                                        json::object params, StopSource& over) {
  AGW_ASSERT(exchange->session.get() == this);
  const auto number = ++asked_;
  const auto question = questions_[number] = std::make_shared<McpQuestion>();
  exchange->stream->push(mcp_request(number, method, std::move(params)));
  {
    const auto end = [question] { question->ended.request(); };
    const StopSource::Listener decided(over, end);
    const StopSource::Listener cancelled(exchange->stop, end);
    co_await until_requested(question->ended);
  }
  questions_.erase(number);
  if (over.requested()) {
    exchange->stream->push(
        mcp_notification("notifications/cancelled", {{"requestId", number}, {"reason", "it was decided elsewhere"}}));
  }
  co_return question->result;
}

void McpClientSession::take_answer(const json::value& answered, json::object result, bool is_error) {
  const auto found = answered.is_int64() ? questions_.find(answered.get_int64()) : questions_.end();
  if (found == questions_.end()) return;
  if (!is_error) found->second->result = std::move(result);
  found->second->ended.request();
}

void McpClientSession::close() {
  AGW_ASSERT(!closed);
  closed = true;
  const auto active = requests;
  for (const auto& [request, exchange] : active) exchange->stop.request();
  general->close();
}

McpClientSessionPointer McpClientSessions::open(std::string version, json::object capabilities) {
  if (sessions_.size() >= max_sessions) {
    McpClientSessionPointer oldest;
    for (const auto& [id, session] : sessions_) {
      if (session->is_idle() && (!oldest || session->used < oldest->used)) oldest = session;
    }
    if (!oldest) throw McpError(rpc_code::invalid_request, "too many sessions", {}, too_many_requests);
    close(oldest);
  }
  auto session = std::make_shared<McpClientSession>(loop_, std::move(version), std::move(capabilities));
  sessions_[session->id] = session;
  AGW_ASSERT(sessions_.size() <= max_sessions);
  return session;
}

McpClientSessionPointer McpClientSessions::find(std::string_view id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return nullptr;
  found->second->used = McpClientSession::Clock::now();
  return found->second;
}

void McpClientSessions::close(McpClientSessionPointer session) {
  const auto erased = sessions_.erase(session->id);
  AGW_ASSERT(erased == 1);
  session->close();
}

void McpClientSessions::close_idle(McpClientSession::Clock::time_point now) {
  std::vector<McpClientSessionPointer> idle;
  for (const auto& [id, session] : sessions_) {
    if (session->is_idle() && now - session->used > max_idle) idle.push_back(session);
  }
  for (const auto& session : idle) close(session);
}

void McpClientSessions::close_all() {
  while (!sessions_.empty()) close(sessions_.begin()->second);
}

}  // namespace agw
