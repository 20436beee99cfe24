#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include <boost/asio/ip/tcp.hpp>

#include "base/async/task.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

/// A pipe that moves bytes between sockets within the kernel, without copying them into this process. Both sockets must
/// be non-blocking.
/// Example: src/io/proxy/relay_test.cpp: Relay.PassesOnWhatIsLargeEnoughForThePipe
class SplicePipe {
public:
  /// The maximum number of bytes in the pipe; smaller if the system allows less.
  static constexpr std::size_t capacity = std::size_t{1024} * 1024;

  /// False if no pipe could be created because there are no descriptors left.
  explicit operator bool() const { return static_cast<bool>(in_); }
  SplicePipe();

  /// Moves up to `count` received bytes into the pipe. Returns their number, 0 at the end of the stream, -1 with
  /// `errno` on failure.
  ssize_t fill(asio::ip::tcp::socket& from, std::uint64_t count);
  /// Sends bytes from the pipe. Returns their number, or -1 with `errno`.
  ssize_t drain(asio::ip::tcp::socket& to);
  /// The number of bytes in the pipe.
  std::size_t size() const { return size_; }

private:
  Descriptor out_;
  Descriptor in_;
  std::size_t size_ = 0;
};

/// Selects Reno as congestion control: it needs no privileges and sends as much as the receiver has room for. Only for
/// connections on this machine, which have no network to protect. BBR, the default of many systems, paces with timers,
/// and a connection that BBR has started with is paced for good. So call it before the connection exists: on a socket
/// that is going to connect, or on one that listens (accepted sockets inherit the choice: tcp(7), TCP_CONGESTION).
/// Example: src/server/server_test.cpp: Listener.SendsWithoutPacingOnThisMachineOnly
void send_without_pacing(int socket);

/// Waits until a socket is writable; returns false if the wait was cancelled.
using WaitUntilWritable = std::function<Task<bool>()>;

/// Moves `count` bytes between sockets within the kernel, without copying them into this process. Returns the number of
/// bytes sent: fewer if a side closed or failed, or a wait was cancelled. Both sockets must be non-blocking; `writable`
/// waits for `to`.
Task<std::uint64_t> splice_bytes(asio::ip::tcp::socket& from, asio::ip::tcp::socket& to, std::uint64_t count,
                                 WaitUntilWritable writable);

}  // namespace agw
