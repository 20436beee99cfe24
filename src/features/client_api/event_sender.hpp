#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "api/proxy_stream.hpp"
#include "base/async/async_event.hpp"
#include "base/async/cancellation.hpp"

namespace agw {

/// Sends a stream of events to a program, as fast as it reads, and keeps the connection alive while there are no
/// events. The first bytes begin the response. Disconnects a program that has more than `max_waiting` bytes left to
/// read.
class EventSender {
public:
  static constexpr std::size_t max_waiting = 8 * 1024 * 1024;

  /// Requests `disconnected` once the program has disconnected or reads too slowly. The arguments must outlive the
  /// sender.
  EventSender(Loop& loop, ResponseStream& stream, StopSource& disconnected, Fields fields,
              std::function<std::string()> keep_alive);

  /// Sends until `close` was called and all bytes have been sent, or the program has disconnected. Spawn it in a group.
  Task<> run();

  void write(std::string_view bytes);
  /// Marks the end of the stream: `write` is not called again.
  void close();
  /// Whether the response has begun, so that an error can no longer be sent as a separate response.
  bool begun() const { return begun_; }

private:
  ResponseStream& stream_;
  StopSource& disconnected_;
  Fields fields_;
  std::function<std::string()> keep_alive_;
  AsyncEvent changed_;
  std::string waiting_;
  bool begun_ = false;
  bool closed_ = false;
};

}  // namespace agw
