#include "io/tls/tls_stream.hpp"

#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"

namespace agw {

using boost::system::error_code;

namespace {

constexpr std::size_t record_bytes = 16 * 1024 + 256;

}  // namespace

TlsStream::TlsStream(Loop& loop, Socket& socket, std::unique_ptr<TlsSession> session, std::string_view received)
    : socket_(socket), session_(std::move(session)), sent_(loop) {
  AGW_ASSERT(session_);
  if (!received.empty()) session_->put(received);
}

Task<bool> TlsStream::handshake(std::chrono::milliseconds limit) {
  bool done = false;
  StopSource never;
  const auto ended = co_await with_timeout(never, limit, shake_hands(done));
  co_return ended == WaitResult::done&& done;
}

Task<> TlsStream::shake_hands(bool& done) {
  for (;;) {
    const bool goes_on = session_->advance_handshake();
    // A failed handshake must still send its alert.
    if (!co_await flush() || !goes_on) co_return;
    if (session_->established()) break;
    if (!co_await receive()) co_return;
  }
  done = true;
}

Task<bool> TlsStream::read(std::string& bytes) {
  bytes.clear();
  for (;;) {
    const bool is_open = session_->read(bytes);
    if (!co_await flush()) co_return false;
    if (!bytes.empty()) co_return true;
    if (!is_open || !co_await receive()) co_return false;
  }
}

Task<bool> TlsStream::write(std::string_view bytes) {
  if (!session_->write(bytes)) co_return false;
  co_return co_await flush();
}

Task<> TlsStream::end() {
  session_->end();
  co_await flush();
  abort();
}

void TlsStream::abort() {
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

Task<bool> TlsStream::receive() {
  incoming_.resize(record_bytes);
  error_code error;
  const auto size = co_await socket_.async_read_some(asio::buffer(incoming_.data(), incoming_.size()),
                                                     asio::redirect_error(asio::use_awaitable, error));
  if (!error) session_->put(std::string_view(incoming_).substr(0, size));
  co_return !error;
}

/// Records must be sent in order, so only one coroutine sends at a time. After a failed write no other may follow: Asio
/// would wait for an event that the kernel has already reported.
Task<bool> TlsStream::flush() {
  struct Turn {
    explicit Turn(TlsStream& of) : stream(of) { stream.is_sending_ = true; }
    ~Turn() {
      AGW_ASSERT(stream.is_sending_);
      stream.is_sending_ = false;
      stream.sent_.pulse();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    TlsStream& stream;
  };
  while (!is_broken_ && !session_->outgoing().empty()) {
    if (is_sending_) {
      co_await sent_.wait();
      continue;
    }
    const Turn turn(*this);
    const auto records = std::exchange(session_->outgoing(), {});
    error_code error;
    co_await asio::async_write(socket_, asio::buffer(records), asio::redirect_error(asio::use_awaitable, error));
    is_broken_ = is_broken_ || error;
  }
  co_return !is_broken_;
}

}  // namespace agw
