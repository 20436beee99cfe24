#include "server/http/socket_stream.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <ctime>

#include <array>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"
#include "io/files/splice.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// One buffer for all connections: only the loop's thread uses it, and never across a suspension.
std::array<char, 64 * 1024>& shared_buffer() {
  static std::array<char, 64 * 1024> buffer;
  return buffer;
}

constexpr std::size_t max_encrypted_at_once = 64 * 1024;

/// A peer that reads as fast as this one writes would else hold the loop until it has all.
constexpr std::size_t max_sent_at_once = 512 * 1024;

bool would_block(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

SocketStream::SocketStream(Loop& loop, Descriptor socket, std::unique_ptr<TlsSession> tls)
    : fd_(socket.get()), unregistered_(std::move(socket)), socket_(loop), tls_(std::move(tls)) {
  AGW_ASSERT(fd_ >= 0);
  const int yes = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

SocketStream::~SocketStream() { stop_polling(); }

void SocketStream::poll_with(ReadPoller& poller, ReadHandler& handler) {
  AGW_ASSERT(!tls_);
  AGW_ASSERT(!poller_);
  AGW_ASSERT(unregistered_);  // the loop does not watch it too
  poller.add(fd_, handler);
  poller_ = &poller;
  read_handler_ = &handler;
}

void SocketStream::stop_polling() {
  if (poller_) std::exchange(poller_, nullptr)->remove(fd_, *read_handler_);
}

/// Registers the socket with the loop on first use.
tcp::socket& SocketStream::asio_socket() {
  AGW_ASSERT(unregistered_ || !poller_);
  if (!unregistered_) return socket_;
  stop_polling();
  error_code error;
  socket_.assign(tcp::v4(), fd_, error);  // the family does not matter for the functions used
  if (!error) unregistered_.release();
  if (!error) socket_.non_blocking(true, error);
  return socket_;
}

SocketStream::TimePoint SocketStream::now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return TimePoint(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

Task<bool> SocketStream::handshake() {
  AGW_ASSERT(tls_);
  AGW_ASSERT(!tls_->established());
  error_code error;
  for (;;) {
    const bool is_alive = tls_->advance_handshake();
    if (!co_await send({}) || !is_alive) co_return false;
    if (tls_->established()) co_return true;
    if (!co_await receive_encrypted(error)) co_return false;
  }
}

/// Receives bytes and passes them to the session.
Task<bool> SocketStream::receive_encrypted(error_code& error) {
  const auto count = co_await asio_socket().async_read_some(asio::buffer(small_buffer_),
                                                            asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return false;
  tls_->put({small_buffer_.data(), count});
  if (count == small_buffer_.size()) {
    auto& buffer = shared_buffer();
    error_code nothing_more;
    tls_->put({buffer.data(), socket_.read_some(asio::buffer(buffer), nothing_more)});
  }
  last_activity_ = now();
  co_return true;
}

Task<bool> SocketStream::receive_decrypted(std::string& in) {
  const auto before = in.size();
  error_code error;
  for (;;) {
    const bool is_alive = tls_->read(in);
    if (in.size() > before) co_return true;
    // The session itself may have data to send, such as an alert.
    if (!is_alive || !flush() || !co_await receive_encrypted(error)) co_return false;
  }
}

Task<bool> SocketStream::receive(std::string& in) {
  if (tls_) co_return co_await receive_decrypted(in);
  error_code error;
  // An asynchronous read needs one system call less than a wait followed by a read, because it does not rearm the
  // reactor.
  const auto count = co_await asio_socket().async_read_some(asio::buffer(small_buffer_),
                                                            asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return false;
  in.append(small_buffer_.data(), count);
  if (count == small_buffer_.size()) {
    auto& buffer = shared_buffer();
    error_code nothing_more;
    in.append(buffer.data(), socket_.read_some(asio::buffer(buffer), nothing_more));
  }
  last_activity_ = now();
  co_return true;
}

SocketStream::Received SocketStream::try_receive(std::string& in) {
  AGW_ASSERT(!tls_);
  auto& buffer = shared_buffer();
  const auto count = ::recv(fd_, buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Received::would_block;
  if (count <= 0) return Received::end;
  const auto size = static_cast<std::size_t>(count);
  in.append(buffer.data(), size);
  last_activity_ = now();
  return size == buffer.size() ? Received::more : Received::bytes;
}

void SocketStream::acknowledge() {
  const int yes = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);
}

std::size_t SocketStream::write_some(std::string_view bytes, error_code& error) {
  const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno != EINTR) error = error_code(errno, boost::system::system_category());
  return 0;
}

/// Sends encrypted output without waiting. Returns false if the connection broke.
bool SocketStream::flush() {
  auto& outgoing = tls_->outgoing();
  std::size_t sent = 0;
  error_code error;
  while (sent < outgoing.size() && !error) {
    sent += write_some(std::string_view(outgoing).substr(sent), error);
  }
  outgoing.erase(0, sent);
  if (outgoing.empty()) std::string().swap(outgoing);
  if (sent > 0) last_activity_ = now();
  return !error || would_block(error);
}

bool SocketStream::encrypt_and_send(std::string_view& bytes) {
  for (;;) {
    if (!flush()) return false;
    if (has_unsent_ciphertext() || bytes.empty()) return true;
    const auto piece = bytes.substr(0, max_encrypted_at_once);
    if (!tls_->write(piece)) return false;
    bytes.remove_prefix(piece.size());
  }
}

bool SocketStream::try_send(std::string_view& bytes) {
  if (tls_) return encrypt_and_send(bytes);
  error_code error;
  while (!bytes.empty() && !error) bytes.remove_prefix(write_some(bytes, error));
  return !error || would_block(error);
}

Task<bool> SocketStream::send(std::string_view bytes) {
  for (;;) {
    auto piece = bytes.substr(0, max_sent_at_once);
    const auto size = piece.size();
    if (!try_send(piece)) co_return false;
    bytes.remove_prefix(size - piece.size());
    last_activity_ = now();
    if (bytes.empty() && !has_unsent_ciphertext()) co_return true;
    if (!co_await wait_writable()) co_return false;
  }
}

std::optional<std::size_t> SocketStream::try_send(std::span<const asio::const_buffer> pieces) {
  if (tls_) {
    std::string gathered;
    for (const auto& piece : pieces) {
      if (gathered.size() < max_encrypted_at_once)
        gathered.append(static_cast<const char*>(piece.data()), piece.size());
    }
    std::string_view rest = gathered;
    if (!encrypt_and_send(rest)) return std::nullopt;
    return gathered.size() - rest.size();
  }
  error_code error;
  const auto count = asio_socket().write_some(pieces, error);
  if (error && !would_block(error)) return std::nullopt;
  if (count > 0) last_activity_ = now();
  return count;
}

Task<std::uint64_t> SocketStream::move_from(tcp::socket& source, std::uint64_t count) {
  if (tls_) co_return 0;
  const auto moved = co_await splice_bytes(source, asio_socket(), count, [this] {
    last_activity_ = now();
    return wait_writable();
  });
  last_activity_ = now();
  co_return moved;
}

Task<bool> SocketStream::wait_writable() {
  error_code error;
  const ScopedFlag waiting(is_blocked_on_send_);
  co_await asio_socket().async_wait(tcp::socket::wait_write, asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

void SocketStream::interrupt() {
  error_code ignored;
  socket_.cancel(ignored);
}

Task<> SocketStream::lingering_close() {
  if (tls_) {
    tls_->end();
    flush();
  }
  if (::shutdown(fd_, SHUT_WR) != 0) co_return;
  std::string discarded;
  while (co_await receive(discarded)) discarded.clear();
}

}  // namespace agw
