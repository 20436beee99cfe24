#include "io/proxy/relay.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
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

bool must_wait(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again || error == asio::error::interrupted;
}

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

/// Copies once, through a buffer that lives only meanwhile. `rest` is what `to` does not take yet.
std::size_t copy_some(tcp::socket& from, tcp::socket& to, std::string& rest, error_code& error) {
  std::array<char, buffer_size> buffer;
  const auto size = from.read_some(asio::buffer(buffer), error);
  if (error) return 0;
  const auto sent = to.write_some(asio::buffer(buffer.data(), size), error);
  if (must_wait(error)) error.clear();
  if (!error) rest.assign(buffer.data() + sent, size - sent);
  return size;
}

Task<> readable(tcp::socket& socket, error_code& error) {
  co_await socket.async_wait(tcp::socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
}

Task<bool> writable(tcp::socket& socket) {
  error_code error;
  co_await socket.async_wait(tcp::socket::wait_write, asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

/// Moves what has come already, so that no pipe is held while nothing comes. False if not all of it went.
Task<bool> splice_what_came(tcp::socket& from, tcp::socket& to) {
  error_code error;
  const auto size = from.available(error);
  if (error || size < worth_splicing) co_return !error;
  co_return co_await splice_bytes(from, to, size, [&to] { return writable(to); }) == size;
}

}  // namespace

Task<bool> relay(tcp::socket& from, tcp::socket& to) {
  error_code error;
  for (auto* socket : {&from, &to}) prepare(*socket);
  std::string rest;
  while (!error) {
    if (!co_await splice_what_came(from, to)) co_return false;
    copy_some(from, to, rest, error);
    if (must_wait(error)) {
      error.clear();
      co_await readable(from, error);
    } else if (!error && !rest.empty()) {
      co_await asio::async_write(to, asio::buffer(rest), asio::redirect_error(asio::use_awaitable, error));
      std::string().swap(rest);
    } else if (!error) {
      // If neither side ever waits, other coroutines still get their turn.
      co_await asio::post(to.get_executor(), asio::use_awaitable);
    }
  }
  if (error != asio::error::eof) co_return false;
  to.shutdown(tcp::socket::shutdown_send, error);
  co_return true;
}

}  // namespace agw
