#include "io/files/splice.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"

namespace agw {

using asio::ip::tcp;

namespace {

/// Returns the number of bytes moved, 0 at the end of the stream, -1 with `errno` on failure.
ssize_t move(int from, int to, std::uint64_t count) {
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(count, SplicePipe::capacity));
  return ::splice(from, nullptr, to, nullptr, bytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

bool would_block() { return errno == EAGAIN || errno == EINTR; }

Task<bool> readable(tcp::socket& socket) {
  boost::system::error_code error;
  co_await socket.async_wait(tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

/// Sends the content of the pipe. Returns false if some of it could not be sent.
Task<bool> drain(SplicePipe& pipe, tcp::socket& to, const WaitUntilWritable& writable) {
  while (pipe.size() > 0) {
    const auto moved = pipe.drain(to);
    if (moved > 0) continue;
    if (moved == 0 || !would_block() || !co_await writable()) co_return false;
  }
  co_return true;
}

}  // namespace

void send_without_pacing(int socket) {
  constexpr std::string_view reno = "reno";
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, reno.data(), reno.size());
}

SplicePipe::SplicePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  out_ = Descriptor(ends[0]);
  in_ = Descriptor(ends[1]);
  ::fcntl(in_.get(), F_SETPIPE_SZ, static_cast<int>(capacity));
}

ssize_t SplicePipe::fill(tcp::socket& from, std::uint64_t count) {
  AGW_ASSERT(in_);
  // A call that moves nothing would look like the end of the stream; so in `drain`.
  AGW_ASSERT(count > 0);
  const auto taken = move(from.native_handle(), in_.get(), count);
  if (taken > 0) size_ += static_cast<std::size_t>(taken);
  AGW_ASSERT(taken <= 0 || static_cast<std::uint64_t>(taken) <= count);
  return taken;
}

ssize_t SplicePipe::drain(tcp::socket& to) {
  AGW_ASSERT(out_);
  AGW_ASSERT(size_ > 0);
  const auto sent = move(out_.get(), to.native_handle(), size_);
  AGW_ASSERT(sent <= 0 || static_cast<std::size_t>(sent) <= size_);
  if (sent > 0) size_ -= static_cast<std::size_t>(sent);
  return sent;
}

Task<std::uint64_t> splice_bytes(tcp::socket& from, tcp::socket& to, std::uint64_t count, WaitUntilWritable writable) {
  SplicePipe pipe;
  std::uint64_t sent = 0;
  while (pipe && sent < count) {
    AGW_ASSERT(pipe.size() == 0);
    const auto taken = pipe.fill(from, count - sent);
    if (taken > 0) {
      const bool all_went = co_await drain(pipe, to, writable);
      sent += static_cast<std::uint64_t>(taken) - pipe.size();
      if (!all_went) break;
      // Lets other coroutines run even if neither side ever waits.
      co_await asio::post(to.get_executor(), asio::use_awaitable);
    } else if (taken == 0 || !would_block() || !co_await readable(from)) {
      break;
    }
  }
  AGW_ASSERT(sent <= count);
  co_return sent;
}

}  // namespace agw
