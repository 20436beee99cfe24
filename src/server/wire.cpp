#include "server/wire.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <ctime>

#include <array>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/meanwhile.hpp"
#include "io/splice.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// One buffer for all connections: it is only used between two suspensions, by the loop's thread.
std::array<char, 64 * 1024>& shared_buffer() {
  static std::array<char, 64 * 1024> buffer;
  return buffer;
}

constexpr std::size_t most_encrypted_at_once = 64 * 1024;

bool would_block(const error_code& error) {
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

Wire::Wire(Loop& loop, Descriptor socket, std::unique_ptr<TlsSession> tls)
    : number_(socket.get()), unopened_(std::move(socket)), socket_(loop), tls_(std::move(tls)) {
  const int yes = 1;
  ::setsockopt(number_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

Wire::~Wire() { stop_watching(); }

void Wire::watch(ReadWatch& watch, Readable& who) {
  watch.add(number_, who);
  watch_ = &watch;
  told_ = &who;
}

void Wire::stop_watching() {
  if (watch_) std::exchange(watch_, nullptr)->remove(number_, *told_);
}

/// The socket as the loop watches it, from the first time that it is asked for.
tcp::socket& Wire::on_loop() {
  if (!unopened_) return socket_;
  stop_watching();
  error_code error;
  socket_.assign(tcp::v4(), number_, error);  // The family matters to none of what is asked of it.
  if (!error) unopened_.release();
  if (!error) socket_.non_blocking(true, error);
  return socket_;
}

Wire::Moment Wire::now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return Moment(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

Task<bool> Wire::secure() {
  error_code error;
  for (;;) {
    const bool goes_on = tls_->shake_hands();
    if (!co_await send({}) || !goes_on) co_return false;
    if (tls_->established()) co_return true;
    if (!co_await receive_encrypted(error)) co_return false;
  }
}

/// Hands what has arrived to the session.
Task<bool> Wire::receive_encrypted(error_code& error) {
  const auto count =
      co_await on_loop().async_read_some(asio::buffer(first_), asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return false;
  tls_->put({first_.data(), count});
  if (count == first_.size()) {
    auto& buffer = shared_buffer();
    error_code nothing_more;
    tls_->put({buffer.data(), socket_.read_some(asio::buffer(buffer), nothing_more)});
  }
  last_activity_ = now();
  co_return true;
}

Task<bool> Wire::receive_decrypted(std::string& in) {
  const auto before = in.size();
  error_code error;
  for (;;) {
    const bool goes_on = tls_->read(in);
    if (in.size() > before) co_return true;
    // What the session itself has to say, such as an alert.
    if (!goes_on || !flush() || !co_await receive_encrypted(error)) co_return false;
  }
}

Task<bool> Wire::receive(std::string& in) {
  if (tls_) co_return co_await receive_decrypted(in);
  error_code error;
  // A read that waits costs one system call less than a wait and then a read: the reactor need not be armed again.
  const auto count =
      co_await on_loop().async_read_some(asio::buffer(first_), asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return false;
  in.append(first_.data(), count);
  if (count == first_.size()) {
    auto& buffer = shared_buffer();
    error_code nothing_more;
    in.append(buffer.data(), socket_.read_some(asio::buffer(buffer), nothing_more));
  }
  last_activity_ = now();
  co_return true;
}

Wire::Arrived Wire::receive_at_once(std::string& in) {
  auto& buffer = shared_buffer();
  const auto count = ::recv(number_, buffer.data(), buffer.size(), 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Arrived::nothing;
  if (count <= 0) return Arrived::end;
  const auto size = static_cast<std::size_t>(count);
  in.append(buffer.data(), size);
  last_activity_ = now();
  return size == buffer.size() ? Arrived::more : Arrived::bytes;
}

std::size_t Wire::write_some(std::string_view bytes, error_code& error) {
  const auto count = ::send(number_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (errno != EINTR) error = error_code(errno, boost::system::system_category());
  return 0;
}

/// Sends what the session has made, as far as it goes at once. False when the connection broke.
bool Wire::flush() {
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

bool Wire::encrypt_and_send(std::string_view& bytes) {
  for (;;) {
    if (!flush()) return false;
    if (holds_back() || bytes.empty()) return true;
    const auto piece = bytes.substr(0, most_encrypted_at_once);
    if (!tls_->write(piece)) return false;
    bytes.remove_prefix(piece.size());
  }
}

bool Wire::send_at_once(std::string_view& bytes) {
  if (tls_) return encrypt_and_send(bytes);
  error_code error;
  while (!bytes.empty() && !error) bytes.remove_prefix(write_some(bytes, error));
  return !error || would_block(error);
}

Task<bool> Wire::send(std::string_view bytes) {
  for (;;) {
    if (!send_at_once(bytes)) co_return false;
    last_activity_ = now();
    if (bytes.empty() && !holds_back()) co_return true;
    if (!co_await writable()) co_return false;
  }
}

std::optional<std::size_t> Wire::send_some(std::span<const asio::const_buffer> pieces) {
  if (tls_) {
    std::string gathered;
    for (const auto& piece : pieces) {
      if (gathered.size() < most_encrypted_at_once)
        gathered.append(static_cast<const char*>(piece.data()), piece.size());
    }
    std::string_view rest = gathered;
    if (!encrypt_and_send(rest)) return std::nullopt;
    return gathered.size() - rest.size();
  }
  error_code error;
  const auto count = on_loop().write_some(pieces, error);
  if (error && !would_block(error)) return std::nullopt;
  if (count > 0) last_activity_ = now();
  return count;
}

Task<std::uint64_t> Wire::move_from(tcp::socket& source, std::uint64_t count) {
  if (tls_) co_return 0;
  const auto moved = co_await splice_bytes(source, on_loop(), count, [this] {
    last_activity_ = now();
    return writable();
  });
  last_activity_ = now();
  co_return moved;
}

Task<bool> Wire::writable() {
  error_code error;
  const Meanwhile waiting(waits_to_send_);
  co_await on_loop().async_wait(tcp::socket::wait_write, asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

void Wire::interrupt() {
  error_code ignored;
  socket_.cancel(ignored);
}

Task<> Wire::finish() {
  if (tls_) {
    tls_->end();
    flush();
  }
  if (::shutdown(number_, SHUT_WR) != 0) co_return;
  std::string discarded;
  while (co_await receive(discarded)) discarded.clear();
}

}  // namespace agw
