#include "server/wire.hpp"

#include <ctime>

#include <array>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// One buffer for all connections: it is only used between two suspensions, by the loop's thread.
std::array<char, 64 * 1024>& shared_buffer() {
  static std::array<char, 64 * 1024> buffer;
  return buffer;
}

bool would_block(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

Wire::Wire(tcp::socket socket) : socket_(std::move(socket)) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
}

Wire::Moment Wire::now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return Moment(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

Task<std::size_t> Wire::first_bytes(error_code& error) {
  // A read that waits costs one system call less than a wait and then a read: the reactor need not be armed again.
  return socket_.async_read_some(asio::buffer(first_), asio::redirect_error(asio::use_awaitable, error));
}

bool Wire::take(std::size_t count, const error_code& error, std::string& in) {
  if (error) return false;
  in.append(first_.data(), count);
  if (count == first_.size()) {
    auto& buffer = shared_buffer();
    error_code nothing_more;
    in.append(buffer.data(), socket_.read_some(asio::buffer(buffer), nothing_more));
  }
  last_activity_ = now();
  return true;
}

Task<bool> Wire::receive(std::string& in) {
  error_code error;
  const auto count = co_await first_bytes(error);
  co_return take(count, error, in);
}

bool Wire::send_at_once(std::string_view& bytes) {
  error_code error;
  while (!bytes.empty() && !error) bytes.remove_prefix(socket_.write_some(asio::buffer(bytes), error));
  last_activity_ = now();
  return !error || would_block(error);
}

Task<bool> Wire::send(std::string_view bytes) {
  for (;;) {
    if (!send_at_once(bytes)) co_return false;
    if (bytes.empty()) co_return true;
    if (!co_await writable()) co_return false;
  }
}

std::optional<std::size_t> Wire::send_some(std::span<const asio::const_buffer> pieces) {
  error_code error;
  const auto count = socket_.write_some(pieces, error);
  if (error && !would_block(error)) return std::nullopt;
  if (count > 0) last_activity_ = now();
  return count;
}

Task<bool> Wire::writable() {
  error_code error;
  co_await socket_.async_wait(tcp::socket::wait_write, asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

void Wire::interrupt() {
  error_code ignored;
  socket_.cancel(ignored);
}

Task<> Wire::finish() {
  error_code error;
  socket_.shutdown(tcp::socket::shutdown_send, error);
  std::string discarded;
  while (!error && co_await receive(discarded)) discarded.clear();
}

void Wire::close() {
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace agw
