#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstddef>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/task.hpp"

namespace agw {

/// What is told when its socket has something to read.
class Readable {
public:
  virtual ~Readable() = default;
  /// Bytes have arrived since they were last read to the end; with `ended` the stream's end or an error stands behind
  /// them. It may not destroy itself.
  virtual void on_readable(bool ended) = 0;
};

/// Watches sockets that wait for something to read: one epoll for all of them, which the loop watches. Waiting on the
/// loop itself costs a read that finds nothing and a coroutine's suspension for every request; here a request that
/// arrives costs the read that takes it (`script/bench health`).
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

  asio::posix::stream_descriptor epoll_;
  std::array<epoll_event, 64> events_{};  ///< of one turn; one whose Readable was removed has none
  int count_ = 0;
};

}  // namespace agw
