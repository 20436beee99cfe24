// How bytes pass from one socket to another.
//
// What comes now and then is copied through a buffer on the stack, so that an idle connection holds none. What has
// piled up is spliced, which costs less for each byte but more for each piece. A socket that brings much is therefore
// not asked again for each arrival: it is left alone for a moment, in which more piles up. Meanwhile it does not wake
// the loop either, because SO_RCVLOWAT says that only an amount is worth it. Its end and its failures are seen at the
// end of that moment.

#include "io/proxy/relay.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "io/files/splice.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t buffer_size = std::size_t{64} * 1024;
/// Below this, a pipe costs more than a copy.
constexpr std::size_t worth_splicing = 4 * buffer_size;
/// In which more piles up.
constexpr std::chrono::microseconds moment{200};
/// More than comes in a moment.
constexpr int worth_waking = 1024 * 1024;

bool must_wait(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again || error == asio::error::interrupted;
}

error_code last_error() { return {errno, boost::system::system_category()}; }

/// Small pieces are not delayed. Loopback needs no congestion control: Reno, which every process may choose, sends as
/// much as the receiver has room for, while others pace.
void prepare(tcp::socket& socket) {
  error_code error;
  socket.non_blocking(true, error);
  socket.set_option(tcp::no_delay(true), error);
  constexpr std::string_view reno = "reno";
  if (const auto other = socket.remote_endpoint(error); !error && other.address().is_loopback())
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_CONGESTION, reno.data(), reno.size());
}

/// Wakes the loop only for so many bytes. The kernel's memory for the socket grows with it.
void wake_for(tcp::socket& socket, int bytes) {
  ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

/// One direction of a connection.
class OneWay {
public:
  OneWay(tcp::socket& from, tcp::socket& to) : from_(from), to_(to), timer_(to.get_executor()) {}

  /// The end of the stream, or what failed.
  Task<error_code> run() {
    while (!error_) {
      co_await copy();
      if (!error_ && much_has_come()) co_await splice();
    }
    co_return error_;
  }

private:
  /// Copies once, or waits until something comes.
  Task<> copy() {
    std::string rest;
    copy_some(rest);
    if (must_wait(error_)) {
      co_await from_.async_wait(tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, error_));
    } else if (!error_ && !rest.empty()) {
      co_await asio::async_write(to_, asio::buffer(rest), asio::redirect_error(asio::use_awaitable, error_));
    } else if (!error_) {
      co_await let_others_work();
    }
  }

  /// The buffer lives only during this call. `rest` is what `to` does not take yet.
  void copy_some(std::string& rest) {
    std::array<char, buffer_size> buffer;
    const auto size = from_.read_some(asio::buffer(buffer), error_);
    if (error_) return;
    const auto sent = to_.write_some(asio::buffer(buffer.data(), size), error_);
    if (must_wait(error_)) error_.clear();
    if (!error_) rest.assign(buffer.data() + sent, size - sent);
  }

  bool much_has_come() {
    error_code error;
    return from_.available(error) >= worth_splicing && !error;
  }

  /// Splices as long as much comes.
  Task<> splice() {
    SplicePipe pipe;
    if (!pipe) co_return;
    wake_for(from_, worth_waking);
    while (co_await splice_what_came(pipe) >= buffer_size && !error_) co_await pause();
    wake_for(from_, 1);
  }

  /// Returns how many bytes that was.
  Task<std::size_t> splice_what_came(SplicePipe& pipe) {
    std::size_t moved = 0;
    while (!error_) {
      const auto taken = pipe.fill(from_, SplicePipe::capacity);
      if (taken < 0 && must_wait(last_error())) break;
      if (taken > 0) moved += static_cast<std::size_t>(taken);
      if (taken == 0) error_ = asio::error::eof;
      if (taken < 0) error_ = last_error();
      if (!error_) co_await drain(pipe);
      if (!error_) co_await let_others_work();
    }
    co_return moved;
  }

  Task<> drain(SplicePipe& pipe) {
    while (pipe.size() > 0 && !error_) {
      const auto sent = pipe.drain(to_);
      if (sent > 0) continue;
      if (sent == 0) error_ = asio::error::broken_pipe;
      if (sent < 0) error_ = last_error();
      if (must_wait(error_))
        co_await to_.async_wait(tcp::socket::wait_write, asio::redirect_error(asio::use_awaitable, error_));
    }
  }

  Task<> pause() {
    timer_.expires_after(moment);
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, error_));
  }

  /// If neither side ever waits.
  Task<> let_others_work() { co_await asio::post(to_.get_executor(), asio::use_awaitable); }

  tcp::socket& from_;
  tcp::socket& to_;
  asio::steady_timer timer_;
  error_code error_;
};

}  // namespace

Task<bool> relay(tcp::socket& from, tcp::socket& to) {
  for (auto* socket : {&from, &to}) prepare(*socket);
  OneWay way(from, to);
  if (co_await way.run() != asio::error::eof) co_return false;
  error_code error;
  to.shutdown(tcp::socket::shutdown_send, error);
  co_return true;
}

}  // namespace agw
