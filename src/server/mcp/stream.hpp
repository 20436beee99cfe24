#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "base/async/async_event.hpp"
#include "base/async/task.hpp"

namespace agw {

/// Messages to a client, in order: those of one request, which end with its response, or those of a session. Kept until
/// the stream is destroyed, so that a client can read on after its connection broke. On the loop.
/// Example: src/server/mcp/stream_test.cpp: McpStream.IsReadFromAnyMessageOn
class McpStream {
public:
  /// How many messages, and bytes of them, are kept: older ones are dropped, never the response.
  static constexpr std::size_t max_messages = 1000;
  static constexpr std::size_t max_bytes = 4 * 1024 * 1024;

  struct Message {
    std::uint64_t number = 0;  ///< counts from 1
    std::string text;          ///< JSON
    bool is_response = false;
  };

  explicit McpStream(Loop& loop, std::string key = {}) : key_(std::move(key)), changed_(loop) {}

  /// The first part of its events' ids.
  const std::string& key() const { return key_; }

  void push(std::string text);
  /// Adds the response and ends the stream. `status`: of HTTP, if nothing was sent before.
  void finish(std::string response, int status);
  /// Ends it without a response.
  void close();

  /// The first kept message with a higher number; null if there is none yet.
  const Message* after(std::uint64_t number) const;
  bool ended() const { return ended_; }
  int status() const { return status_; }
  /// The number of the latest message.
  std::uint64_t latest() const { return latest_; }
  /// Of the session's stream: up to which message a client was sent it.
  std::uint64_t sent = 0;

  /// Waits for the next message, the end, or `wake`.
  Task<> wait() { return changed_.wait(); }
  void wake() { changed_.pulse(); }

private:
  void add(std::string text, bool is_response);

  const std::string key_;
  std::deque<Message> messages_;
  std::size_t bytes_ = 0;
  std::uint64_t latest_ = 0;
  bool ended_ = false;
  int status_ = 200;
  AsyncEvent changed_;
};

}  // namespace agw
