#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <span>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/async/task.hpp"

namespace agw {

/// Handles the readiness of one socket in three passes, each of which the poller makes over all ready sockets. A
/// handler must not destroy itself in any of them.
class ReadHandler {
public:
  virtual ~ReadHandler() = default;
  /// First pass: bytes have arrived since the socket was last drained. If `peer_closed`, an end of stream or an error
  /// follows them.
  virtual void on_readable(bool peer_closed) = 0;
  /// Second pass: handle the received bytes.
  virtual void on_respond() = 0;
  /// Third pass: send the responses.
  virtual void on_flush() = 0;
};

/// Polls the sockets of idle connections with a separate epoll instance, which the loop watches. Waiting on the loop
/// would cost each request an unsuccessful read and a suspended coroutine; here a request costs only a successful read.
/// The three passes separate receiving, handling and sending, because the kernel's code for each evicts the others'
/// from the processor's caches (`script/bench health`).
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
  std::array<epoll_event, 32> events_{};  ///< of the current passes; the pointer of a removed handler is null
  std::size_t count_ = 0;
};

}  // namespace agw
