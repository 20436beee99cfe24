#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "base/async/async_event.hpp"
#include "base/async/task.hpp"

namespace agw {

/// Messages to a client, in order: those of one request, ending with its response, or those of a session. They are kept
/// until the stream is destroyed, so that a client can continue after its connection broke. Use it on the loop only.
/// Example: src/server/mcp/stream_test.cpp: McpStream.IsReadFromAnyMessageOn
class McpStream {
public:
  /// The maximum number of messages, and of their bytes, that are kept. Older messages are dropped, but never the
  /// response.
  static constexpr std::size_t max_messages = 1000;
  static constexpr std::size_t max_bytes = 4 * 1024 * 1024;

  struct Message {
    std::uint64_t number = 0;  ///< starts at 1
    std::string text;          ///< JSON
    bool is_response = false;
  };

  explicit McpStream(Loop& loop, std::string key = {}) : key_(std::move(key)), changed_(loop) {}

  /// The first part of the ids of its events.
  const std::string& key() const { return key_; }

  void push(std::string text);
  /// Adds the response and ends the stream. `status` is the HTTP status, used if nothing was sent before.
  void finish(std::string response, int status);
  /// Ends the stream without a response.
  void close();

  /// The first kept message after this number; null if there is none yet.
  const Message* after(std::uint64_t number) const;
  bool ended() const { return ended_; }
  int status() const { return status_; }
  /// The number of the latest message.
  std::uint64_t latest() const { return latest_; }
  /// The bytes of its kept messages.
  std::size_t size() const { return bytes_; }
  /// For a session's stream: the number of the last message sent to a client.
  std::uint64_t sent = 0;

  /// Waits for the next message, the end, or `wake`.
  Task<> wait() { return changed_.wait(); }
  void wake() { changed_.pulse(); }

private:
  void add(std::string text);

  const std::string key_;
  std::deque<Message> messages_;
  std::size_t bytes_ = 0;
  std::uint64_t latest_ = 0;
  bool ended_ = false;
  int status_ = 200;
  AsyncEvent changed_;
};

}  // namespace agw
