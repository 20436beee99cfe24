// Forwards bytes from one socket to another.
//
// Small amounts are copied through a buffer on the stack, so an idle connection uses no buffer. Larger amounts are
// spliced, which costs less per byte but more per call. A busy socket is therefore polled at intervals instead of read
// on each arrival. SO_RCVLOWAT prevents it from waking the loop between two polls, so its end and its errors are
// detected at the next poll.

#include "io/proxy/relay.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/assert.hpp"
#include "io/files/splice.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t buffer_size = std::size_t{64} * 1024;
/// Smaller amounts are cheaper to copy.
constexpr std::size_t min_splice_bytes = 4 * buffer_size;
/// How long to wait for more data.
constexpr std::chrono::microseconds poll_interval{200};
/// More than arrives in one interval.
constexpr int min_wakeup_bytes = 1024 * 1024;
static_assert(min_splice_bytes >= buffer_size);
static_assert(min_wakeup_bytes <= SplicePipe::capacity);

bool would_block(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again || error == asio::error::interrupted;
}

error_code last_error() { return {errno, boost::system::system_category()}; }

/// Sends small pieces without delay.
void prepare(tcp::socket& socket) {
  error_code error;
  socket.non_blocking(true, error);
  socket.set_option(tcp::no_delay(true), error);
}

/// Wakes the loop only for at least `bytes` bytes. The kernel's buffer for the socket grows accordingly.
void wake_for(tcp::socket& socket, int bytes) {
  ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

/// One direction of a connection.
class OneWay {
public:
  OneWay(tcp::socket& from, tcp::socket& to) : from_(from), to_(to), timer_(to.get_executor()) {}

  /// Returns the reason for the end: end of stream, or an error.
  Task<error_code> run() {
    while (!error_) {
      co_await copy();
      if (!error_ && has_backlog()) co_await splice();
    }
    co_return error_;
  }

private:
  /// Copies once, or waits for data.
  Task<> copy() {
    AGW_ASSERT(!error_);
    std::string rest;
    copy_some(rest);
    if (would_block(error_)) {
      co_await from_.async_wait(tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, error_));
    } else if (!error_ && !rest.empty()) {
      co_await asio::async_write(to_, asio::buffer(rest), asio::redirect_error(asio::use_awaitable, error_));
    } else if (!error_) {
      co_await yield_to_loop();
    }
  }

  /// The buffer exists only during this call. `rest` gets the bytes that `to` did not accept.
  void copy_some(std::string& rest) {
    std::array<char, buffer_size> buffer;
    const auto size = from_.read_some(asio::buffer(buffer), error_);
    if (error_) return;
    const auto sent = to_.write_some(asio::buffer(buffer.data(), size), error_);
    if (would_block(error_)) error_.clear();
    AGW_ASSERT(sent <= size);
    if (!error_) rest.assign(buffer.data() + sent, size - sent);
  }

  bool has_backlog() {
    error_code error;
    return from_.available(error) >= min_splice_bytes && !error;
  }

  /// Splices while there is enough data.
  Task<> splice() {
    AGW_ASSERT(!error_);
    SplicePipe pipe;
    if (!pipe) co_return;
    wake_for(from_, min_wakeup_bytes);
    while (co_await splice_available(pipe) >= buffer_size && !error_) co_await pause();
    wake_for(from_, 1);
  }

  /// Returns the number of bytes moved.
  Task<std::size_t> splice_available(SplicePipe& pipe) {
    std::size_t moved = 0;
    while (!error_) {
      AGW_ASSERT(pipe.size() == 0);
      const auto taken = pipe.fill(from_, SplicePipe::capacity);
      if (taken < 0 && would_block(last_error())) break;
      if (taken > 0) moved += static_cast<std::size_t>(taken);
      if (taken == 0) error_ = asio::error::eof;
      if (taken < 0) error_ = last_error();
      if (!error_) co_await drain(pipe);
      if (!error_) co_await yield_to_loop();
    }
    co_return moved;
  }

  Task<> drain(SplicePipe& pipe) {
    while (pipe.size() > 0 && !error_) {
      const auto sent = pipe.drain(to_);
      if (sent > 0) continue;
      if (sent == 0) error_ = asio::error::broken_pipe;
      if (sent < 0) error_ = last_error();
      if (would_block(error_))
        co_await to_.async_wait(tcp::socket::wait_write, asio::redirect_error(asio::use_awaitable, error_));
    }
  }

  Task<> pause() {
    timer_.expires_after(poll_interval);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error_));
  }

  /// Lets other coroutines run even if neither side ever waits.
  Task<> yield_to_loop() { co_await asio::post(to_.get_executor(), asio::use_awaitable); }

  tcp::socket& from_;
  tcp::socket& to_;
  asio::steady_timer timer_;
  error_code error_;
};

}  // namespace

Task<bool> relay(tcp::socket& from, tcp::socket& to) {
  AGW_ASSERT(&from != &to);
  for (auto* socket : {&from, &to}) prepare(*socket);
  OneWay way(from, to);
  if (co_await way.run() != asio::error::eof) co_return false;
  error_code error;
  to.shutdown(tcp::socket::shutdown_send, error);
  co_return true;
}

}  // namespace agw
