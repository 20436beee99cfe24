#include "io/files/splice.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/files/descriptor.hpp"

namespace agw {

using asio::ip::tcp;

namespace {

constexpr int pipe_size = 1024 * 1024;

/// The pipe between two sockets. A system that does not allow a large one provides a small one.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
    ::fcntl(in.get(), F_SETPIPE_SZ, pipe_size);
  }
  Descriptor out;
  Descriptor in;
};

/// The number of bytes moved at once, 0 at the end of the stream, -1 with `errno`.
ssize_t move(int from, int to, std::uint64_t count) {
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(count, pipe_size));
  return ::splice(from, nullptr, to, nullptr, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

bool must_wait() { return errno == EAGAIN || errno == EINTR; }

Task<bool> readable(tcp::socket& socket) {
  boost::system::error_code error;
  co_await socket.async_wait(tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

/// Sends the content of the pipe; returns how much was sent.
Task<std::uint64_t> drain(const Pipe& pipe, tcp::socket& to, std::uint64_t count, const WaitUntilWritable& writable) {
  std::uint64_t sent = 0;
  while (sent < count) {
    const auto moved = move(pipe.out.get(), to.native_handle(), count - sent);
    if (moved > 0) {
      sent += static_cast<std::uint64_t>(moved);
    } else if (moved == 0 || !must_wait() || !co_await writable()) {
      break;
    }
  }
  co_return sent;
}

}  // namespace

Task<std::uint64_t> splice_bytes(tcp::socket& from, tcp::socket& to, std::uint64_t count, WaitUntilWritable writable) {
  const Pipe pipe;
  std::uint64_t sent = 0;
  while (pipe.in && sent < count) {
    const auto taken = move(from.native_handle(), pipe.in.get(), count - sent);
    if (taken > 0) {
      const auto went = co_await drain(pipe, to, static_cast<std::uint64_t>(taken), writable);
      sent += went;
      if (went < static_cast<std::uint64_t>(taken)) break;
      // If neither side ever waits, other coroutines still get their turn.
      co_await asio::post(to.get_executor(), asio::use_awaitable);
    } else if (taken == 0 || !must_wait() || !co_await readable(from)) {
      break;
    }
  }
  co_return sent;
}

}  // namespace agw
