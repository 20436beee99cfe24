#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <span>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/task.hpp"

namespace agw {

/// What is told when its socket has something to read: to `receive` it, then to `answer` it, then to `send` the
/// answers. It may not destroy itself in any of them.
class Readable {
public:
  virtual ~Readable() = default;
  /// Bytes have arrived since they were last read to the end; with `ended` the stream's end or an error stands behind
  /// them.
  virtual void receive(bool ended) = 0;
  virtual void answer() = 0;
  virtual void send() = 0;
};

/// Watches sockets that wait for something to read: one epoll for all of them, which the loop watches. Waiting on the
/// loop itself costs a read that finds nothing and a coroutine's suspension for every request; here a request that
/// arrives costs the read that takes it. Of several that are ready each first receives, then each answers, then each
/// sends: what the system does for a read, what is done here, and what it does for a write displace each other in the
/// processor's caches (`script/bench health`).
class ReadWatch {
public:
  explicit ReadWatch(Loop& loop);

  /// Tells `who` from now on. Throws std::system_error.
  void add(int socket, Readable& who);
  /// No more, from this moment on.
  void remove(int socket, Readable& who);

  /// Watches until it is cancelled.
  Task<> run();

private:
  std::size_t tell_ready();
  std::span<epoll_event> ready() { return std::span(events_).first(count_); }

  asio::posix::stream_descriptor epoll_;
  std::array<epoll_event, 32> events_{};  ///< of one turn; one whose Readable was removed has none
  std::size_t count_ = 0;
};

}  // namespace agw
