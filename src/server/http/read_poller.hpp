#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <span>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/async/task.hpp"

namespace agw {

/// Handles the readiness of one socket in three passes, which the poller makes over all sockets that are ready. It must
/// not destroy itself in any of them.
class ReadHandler {
public:
  virtual ~ReadHandler() = default;
  /// First pass: bytes have arrived since the socket was last drained. With `peer_closed` they are the last, and an end
  /// of stream or an error follows.
  virtual void on_readable(bool peer_closed) = 0;
  /// Second pass: handle what was read.
  virtual void on_respond() = 0;
  /// Third pass: send the responses.
  virtual void on_flush() = 0;
};

/// Polls the sockets of idle connections with a separate epoll instance, which the loop watches. Waiting on the loop
/// costs a read that finds nothing and a suspended coroutine per request; here a request costs only the read that takes
/// it. The three passes keep receiving, handling and sending apart, because the kernel's code for each of them evicts
/// the others' from the processor's caches (`script/bench health`).
/// Example: src/server/http/read_poller_test.cpp: ReadPoller.MakesThreePassesOverAllReadySockets
class ReadPoller {
public:
  explicit ReadPoller(Loop& loop);

  /// Calls `handler` whenever `socket` becomes readable (edge-triggered). Throws std::system_error.
  void add(int socket, ReadHandler& handler);
  /// `handler` is not called again, not even in the current passes.
  void remove(int socket, ReadHandler& handler);

  /// Polls until it is cancelled.
  Task<> run();

private:
  std::size_t poll();
  std::span<epoll_event> ready() { return std::span(events_).first(count_); }

  asio::posix::stream_descriptor epoll_;
  std::array<epoll_event, 32> events_{};  ///< of the current passes; null for a handler that was removed
  std::size_t count_ = 0;
};

}  // namespace agw
