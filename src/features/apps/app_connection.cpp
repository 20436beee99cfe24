#include "features/apps/app_connection.hpp"

#include <cstring>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"

namespace agw {

using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::size_t buffer_size = 256 * 1024;
constexpr std::uint64_t min_spliced_bytes = 512 * 1024;  // below this size, a pipe costs more than a copy
// A head that does not fit would look like the end of the connection.
static_assert(buffer_size > ResponseReader::head_limit);

}  // namespace

Task<std::unique_ptr<AppConnection>> AppConnection::open(AppEndpoint endpoint, std::chrono::milliseconds patience) {
  auto socket = co_await connect_to(std::move(endpoint));
  if (!socket) co_return nullptr;
  co_return std::make_unique<AppConnection>(*std::move(socket), patience);
}

AppConnection::AppConnection(tcp::socket socket, std::chrono::milliseconds patience)
    : socket_(std::move(socket)), patience_(patience), buffer_(std::make_unique_for_overwrite<char[]>(buffer_size)) {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
}

/// The unread bytes lie in the buffer.
void AppConnection::assert_invariants() const {
  AGW_ASSERT(begin_ <= end_);
  AGW_ASSERT(end_ <= buffer_size);
  AGW_ASSERT(!responded_ || receptions_ > 0);
}

Task<bool> AppConnection::send(std::string_view bytes) {
  while (!bytes.empty() && !interrupted_) {
    error_code error;
    bytes.remove_prefix(socket_.write_some(asio::buffer(bytes), error));
    if (error == asio::error::would_block || error == asio::error::try_again) error = co_await until_writable();
    if (error) {
      broken_ = error != asio::error::operation_aborted;
      co_return false;
    }
  }
  co_return !interrupted_;
}

Task<error_code> AppConnection::until_writable() {
  const auto wait = [](tcp::socket& socket) -> Task<> {
    co_await socket.async_wait(tcp::socket::wait_write, asio::use_awaitable);
  };
  StopSource never;
  try {
    for (auto receptions = receptions_;; receptions = receptions_) {
      if (co_await with_timeout(never, patience_, wait(socket_)) != WaitResult::timed_out) break;
      if (receptions_ == receptions && !is_splicing_) interrupt();
      if (interrupted_) break;
    }
  } catch (const boost::system::system_error& failure) {
    co_return failure.code();
  }
  co_return error_code();
}

/// Appends received bytes to the buffer. Returns false at the end.
Task<bool> AppConnection::receive() {
  assert_invariants();
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (ended_ || interrupted_ || end_ == buffer_size) co_return false;
  error_code error;
  end_ += co_await socket_.async_read_some(asio::buffer(buffer_.get() + end_, buffer_size - end_),
                                           asio::redirect_error(asio::use_awaitable, error));
  ++receptions_;
  responded_ = responded_ || end_ > 0;
  ended_ = bool(error);
  broken_ = error && error != asio::error::operation_aborted;
  assert_invariants();
  co_return !error;
}

Task<bool> AppConnection::read_head(bool without_body) {
  constexpr int switching_protocols = 101;
  reader_.reset(without_body);
  for (;;) {
    begin_ += reader_.put(received());
    AGW_ASSERT(begin_ <= end_);
    if (reader_.failed()) co_return false;
    const bool interim = reader_.head_done() && head().status < 200 && head().status != switching_protocols;
    if (reader_.head_done() && !interim) co_return true;
    if (interim)
      reader_.reset(without_body);
    else if (!co_await receive())
      co_return false;
  }
}

Task<const std::vector<std::string_view>*> AppConnection::read_body() {
  static const std::vector<std::string_view> none;
  AGW_ASSERT(reader_.head_done());
  while (!reader_.done() && !reader_.failed()) {
    begin_ += reader_.put(received());
    AGW_ASSERT(begin_ <= end_);
    if (!reader_.pieces().empty()) co_return &reader_.pieces();
    if (reader_.done() || reader_.failed()) break;
    if (!co_await receive()) reader_.put_end();
  }
  co_return &none;
}

Task<> AppConnection::splice_body(ProxyStream& client) {
  const bool is_buffer_empty = begin_ == end_;
  if (!is_buffer_empty || interrupted_ || reader_.left() < min_spliced_bytes) co_return;
  AGW_ASSERT(!is_splicing_);
  is_splicing_ = true;
  const auto moved = co_await client.move_from(socket_, reader_.left());
  AGW_ASSERT(moved <= reader_.left());
  is_splicing_ = false;
  if (moved > 0) reader_.skip(moved);
}

Task<std::string_view> AppConnection::read_raw() {
  if (begin_ == end_ && !co_await receive()) co_return std::string_view{};
  const auto bytes = received();
  begin_ = end_;
  co_return bytes;
}

void AppConnection::interrupt() {
  interrupted_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

bool AppConnection::reusable() const {
  return reader_.done() && head().keep_alive && begin_ == end_ && !ended_ && !interrupted_;
}

}  // namespace agw
