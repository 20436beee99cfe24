#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/async/cancellation.hpp"
#include "base/json/json.hpp"
#include "server/mcp/stream.hpp"

namespace agw {

struct McpClientSession;

/// An active request.
struct McpExchange {
  json::value id{};
  std::string method{};
  json::object params{};
  bool is_modern = false;                       ///< revision 2026-07-28
  bool offers_all = false;                      ///< also tools that change or execute
  json::object capabilities{};                  ///< of the client
  std::shared_ptr<McpClientSession> session{};  ///< null for a modern request
  std::shared_ptr<McpStream> stream{};
  StopSource stop{};  ///< requested when the client cancels the request or the server stops
  double progress = 0;

  /// Whether the client declared the capability for such requests: `elicitation`.
  bool can(std::string_view capability) const { return capabilities.contains(capability); }
  /// Sends a progress notification if the client requested them. `by` is positive.
  void report_progress(double by, const std::string& text);
  /// Sends a log message if the client requested that level.
  void log(std::string_view level, const std::string& text) const;
};
using McpExchangePointer = std::shared_ptr<McpExchange>;

/// A request of the gateway to the client.
struct McpQuestion {
  StopSource ended{};
  std::optional<json::object> result{};  ///< nullopt: an error, or no answer
};

/// A client that performed the handshake: revisions 2024-11-05 to 2025-11-25.
struct McpClientSession {
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t max_requests = 64;                  ///< at the same time
  static constexpr std::size_t max_ended_streams = 16;             ///< kept for clients whose connection broke
  static constexpr std::size_t max_ended_bytes = 4 * 1024 * 1024;  ///< in these streams; the latest is always kept
  static constexpr std::size_t max_subscriptions = 500;

  McpClientSession(Loop& loop, std::string version, json::object capabilities);

  const std::string id;
  const std::string version;
  const json::object capabilities;
  std::shared_ptr<McpStream> general;                               ///< messages outside of any request
  std::map<std::string, McpExchangePointer, std::less<>> requests;  ///< by the id's JSON
  std::deque<std::shared_ptr<McpStream>> ended_streams;
  std::set<std::string, std::less<>> subscriptions;  ///< URIs
  std::set<std::string, std::less<>> listed;  ///< `tools`, `prompts`, `resources`: lists that the client has read
  std::optional<std::string> log_level;
  int readers = 0;             ///< connections that read one of its streams
  std::uint64_t listener = 0;  ///< the latest reader of `general`; earlier ones end
  Clock::time_point used = Clock::now();
  bool closed = false;

  /// Throws McpError -32600 if the id is in use, or too many requests are active.
  void begin(const McpExchangePointer& exchange);
  void end(const McpExchangePointer& exchange);
  void cancel(const json::object& notification);

  /// The stream with that key; null if it is unknown.
  std::shared_ptr<McpStream> stream(std::string_view key) const;

  /// Sends a request to the client on the exchange's stream and waits for the answer; nullopt if there is none. Once
  /// `over` is requested, the answer is no longer needed.
  Task<std::optional<json::object>> ask(McpExchangePointer exchange, std::string method, json::object params,
                                        StopSource& over);
  void take_answer(const json::value& answered, json::object result, bool is_error);

  bool is_idle() const { return requests.empty() && readers == 0; }
  /// Cancels the session's requests and ends its streams.
  void close();

private:
  std::int64_t asked_ = 0;
  std::map<std::int64_t, std::shared_ptr<McpQuestion>> questions_;
};
using McpClientSessionPointer = std::shared_ptr<McpClientSession>;

/// All sessions, limited in number and idle time.
class McpClientSessions {
public:
  static constexpr std::size_t max_sessions = 100;
  static constexpr std::chrono::minutes max_idle{30};

  explicit McpClientSessions(Loop& loop) : loop_(loop) {}

  /// Opens a session. If there are too many, ends the one that was idle for longest; throws McpError if none is idle.
  McpClientSessionPointer open(std::string version, json::object capabilities);
  /// The session with that id, which counts as used; null if it is unknown.
  McpClientSessionPointer find(std::string_view id);
  void close(McpClientSessionPointer session);
  void close_idle(McpClientSession::Clock::time_point now);
  void close_all();

  const std::map<std::string, McpClientSessionPointer, std::less<>>& all() const { return sessions_; }

private:
  Loop& loop_;
  std::map<std::string, McpClientSessionPointer, std::less<>> sessions_;
};

}  // namespace agw
