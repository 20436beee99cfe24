#include "server/http/http_proxy_stream.hpp"

#include <charconv>
#include <utility>

#include "base/async/assert.hpp"
#include "base/async/cancellation.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto max_proxy_silence = 30s;
constexpr std::size_t max_read_ahead = 64 * 1024;  // bytes of pipelined requests received while one is handled

void append_chunk(std::string& out, std::string_view piece) {
  char digits[16];
  const auto written = std::to_chars(digits, digits + sizeof digits, piece.size(), 16);
  out.append(digits, written.ptr);
  out += "\r\n";
  out += piece;
  out += "\r\n";
}

}  // namespace

HttpProxyStream::HttpProxyStream(SocketStream& stream, RequestParser& parser, std::string& in, Options options)
    : stream_(stream), parser_(parser), in_(in), options_(std::move(options)) {
  AGW_ASSERT(parser_.head_done());
  AGW_ASSERT(parser_.body_received() == 0);
  parser_.stream_body();
}

std::optional<std::uint64_t> HttpProxyStream::body_length() const {
  if (parser_.head().chunked) return std::nullopt;
  return parser_.head().content_length.value_or(0);
}

Task<bool> HttpProxyStream::receive() {
  AGW_DEBUG_ASSERT(!reading_);  // each of two readers would get a part of the body
  if (stop_source_.requested()) co_return false;
  const ScopedFlag reading(reading_);
  co_return co_await stream_.receive(in_);
}

Task<std::optional<std::string>> HttpProxyStream::read() {
  if (upgraded_) co_return co_await read_raw();
  for (;;) {
    const auto used = parser_.put(in_);
    AGW_ASSERT(used <= in_.size());
    in_.erase(0, used);
    if (parser_.refusal()) co_return std::nullopt;
    if (auto piece = parser_.take_body(); !piece.empty()) co_return piece;
    if (parser_.done()) co_return std::string();
    if (std::exchange(options_.expects_continue, false) && !begun_) {
      if (!co_await stream_.send("HTTP/1.1 100 Continue\r\n\r\n")) co_return std::nullopt;
    }
    stream_.acknowledge();
    if (!co_await receive()) co_return std::nullopt;
  }
}

Task<std::optional<std::string>> HttpProxyStream::read_raw() {
  if (in_.empty() && !co_await receive()) co_return std::nullopt;
  co_return std::exchange(in_, {});
}

Task<> HttpProxyStream::wait_for_disconnect() {
  while (in_.size() < max_read_ahead) {
    if (stop_source_.requested() || !co_await stream_.receive(in_)) co_return;
  }
  // Stops reading from a client that pipelines so much. A disconnect is detected when the response is sent.
  co_await until_requested(stop_source_);
}

Task<bool> HttpProxyStream::write(std::string_view bytes) {
  if (stop_source_.requested()) co_return false;
  co_return co_await stream_.send(bytes);
}

void HttpProxyStream::write_head_of(ResponseHead head) {
  AGW_ASSERT(!begun_);
  begun_ = true;
  status_ = head.status;
  options_.on_begin(head.status);
  const bool may_chunk = parser_.head().version == 11;
  framing_ = head.length ? Framing::length : may_chunk ? Framing::chunked : Framing::until_close;
  if (framing_ == Framing::until_close) options_.response.close = true;
  out_.clear();
  write_head(out_, head, framing_, options_.response);
}

Task<bool> HttpProxyStream::begin(ResponseHead head) {
  write_head_of(std::move(head));
  co_return co_await write(out_);
}

/// Sends everything in one piece, so that the client wakes once.
Task<bool> HttpProxyStream::send_whole(ResponseHead head, std::string_view body) {
  head.length = body.size();
  write_head_of(std::move(head));
  if (has_body_to_send()) out_ += body;
  co_return co_await write(out_) && co_await end();
}

bool HttpProxyStream::has_body_to_send() const {
  return !options_.response.without_body && status_ != 204 && status_ != 304;
}

Task<bool> HttpProxyStream::send(std::string_view piece) {
  AGW_ASSERT(begun_);
  AGW_ASSERT(!ended_);
  if (upgraded_) co_return co_await write(piece);
  if (piece.empty() || !has_body_to_send()) co_return true;
  if (framing_ != Framing::chunked) co_return co_await write(piece);
  out_.clear();
  append_chunk(out_, piece);
  co_return co_await write(out_);
}

Task<std::uint64_t> HttpProxyStream::move_from(asio::ip::tcp::socket& source, std::uint64_t count) {
  AGW_ASSERT(begun_);
  AGW_ASSERT(!ended_);
  if (framing_ != Framing::length || stop_source_.requested()) co_return 0;
  co_return co_await stream_.move_from(source, count);
}

Task<bool> HttpProxyStream::end() {
  AGW_ASSERT(begun_);
  AGW_ASSERT(!ended_);
  AGW_ASSERT(!upgraded_);
  const bool last_chunk = framing_ == Framing::chunked && has_body_to_send();
  if (last_chunk && !co_await write("0\r\n\r\n")) co_return false;
  ended_ = framing_ != Framing::until_close;
  co_return true;
}

Task<bool> HttpProxyStream::upgrade(Fields fields) {
  AGW_ASSERT(!begun_);
  begun_ = true;
  upgraded_ = true;
  options_.on_begin(101);
  out_.clear();
  // These hop-by-hop fields are the gateway's own, never the app's; clients need them for the handshake (RFC 6455,
  // 4.1).
  fields.insert(fields.begin(), {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}});
  write_head(out_, {.status = 101, .fields = std::move(fields)}, Framing::none, options_.response);
  co_return co_await write(out_);
}

void HttpProxyStream::abort() {
  stop_source_.request();
  stream_.interrupt();
}

bool HttpProxyStream::is_stuck(SocketStream::TimePoint now) const {
  const bool waits = stream_.is_blocked_on_send() || (reading_ && !begun_);
  return waits && now - stream_.last_activity() > max_proxy_silence;
}

}  // namespace agw
