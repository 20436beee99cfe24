#include "server/exchange.hpp"

#include <charconv>

#include "base/meanwhile.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

constexpr auto silence_limit = 30s;
constexpr std::size_t most_read_ahead = 64 * 1024;  // of further requests, while one is answered

void append_chunk(std::string& out, std::string_view piece) {
  char digits[16];
  const auto written = std::to_chars(digits, digits + sizeof digits, piece.size(), 16);
  out.append(digits, written.ptr);
  out += "\r\n";
  out += piece;
  out += "\r\n";
}

}  // namespace

HttpExchange::HttpExchange(Wire& wire, RequestParser& parser, std::string& in, Options options)
    : wire_(wire), parser_(parser), in_(in), options_(std::move(options)) {
  parser_.stream_body();
}

std::optional<std::uint64_t> HttpExchange::body_length() const {
  if (parser_.head().chunked) return std::nullopt;
  return parser_.head().content_length.value_or(0);
}

Task<bool> HttpExchange::receive() {
  if (cut_off_.requested()) co_return false;
  const Meanwhile reading(reading_);
  co_return co_await wire_.receive(in_);
}

Task<std::optional<std::string>> HttpExchange::read() {
  if (upgraded_) co_return co_await read_raw();
  for (;;) {
    in_.erase(0, parser_.put(in_));
    if (parser_.refusal()) co_return std::nullopt;
    if (auto piece = parser_.take_body(); !piece.empty()) co_return piece;
    if (parser_.done()) co_return std::string();
    if (std::exchange(options_.awaits_continue, false) && !begun_) {
      if (!co_await wire_.send("HTTP/1.1 100 Continue\r\n\r\n")) co_return std::nullopt;
    }
    if (!co_await receive()) co_return std::nullopt;
  }
}

Task<std::optional<std::string>> HttpExchange::read_raw() {
  if (in_.empty() && !co_await receive()) co_return std::nullopt;
  co_return std::exchange(in_, {});
}

Task<> HttpExchange::gone() {
  while (in_.size() < most_read_ahead) {
    if (cut_off_.requested() || !co_await wire_.receive(in_)) co_return;
  }
  // Nothing more is read from a client that asks so much in advance: whether it is there shows when it is answered.
  while (co_await pause(cut_off_, 1h) == End::timed_out) continue;
}

Task<bool> HttpExchange::write(std::string_view bytes) {
  if (cut_off_.requested()) co_return false;
  co_return co_await wire_.send(bytes);
}

Task<bool> HttpExchange::begin(AnswerHead head) {
  begun_ = true;
  status_ = head.status;
  options_.on_begin(head.status);
  const bool may_chunk = parser_.head().version == 11;
  framing_ = head.length ? Framing::length : may_chunk ? Framing::chunked : Framing::until_close;
  if (framing_ == Framing::until_close) options_.response.close = true;
  out_.clear();
  write_head(out_, head, framing_, options_.response);
  co_return co_await write(out_);
}

bool HttpExchange::has_body_to_send() const {
  return !options_.response.without_body && status_ != 204 && status_ != 304;
}

Task<bool> HttpExchange::send(std::string_view piece) {
  if (upgraded_ || framing_ != Framing::chunked) co_return co_await write(piece);
  if (piece.empty() || !has_body_to_send()) co_return true;
  out_.clear();
  append_chunk(out_, piece);
  co_return co_await write(out_);
}

Task<std::uint64_t> HttpExchange::move_from(asio::ip::tcp::socket& source, std::uint64_t count) {
  if (framing_ != Framing::length || cut_off_.requested()) co_return 0;
  co_return co_await wire_.move_from(source, count);
}

Task<bool> HttpExchange::end() {
  const bool last_chunk = framing_ == Framing::chunked && has_body_to_send();
  if (last_chunk && !co_await write("0\r\n\r\n")) co_return false;
  ended_ = framing_ != Framing::until_close;
  co_return true;
}

Task<bool> HttpExchange::upgrade(Fields fields) {
  begun_ = true;
  upgraded_ = true;
  options_.on_begin(101);
  out_.clear();
  // Of this connection, and so never the app's to say; a client ends a handshake without them (RFC 6455, 4.1).
  fields.insert(fields.begin(), {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}});
  write_head(out_, {.status = 101, .fields = std::move(fields)}, Framing::none, options_.response);
  co_return co_await write(out_);
}

void HttpExchange::abort() {
  cut_off_.request();
  wire_.interrupt();
}

bool HttpExchange::is_stuck(Wire::Moment now) const {
  const bool waits = wire_.waits_to_send() || (reading_ && !begun_);
  return waits && now - wire_.last_activity() > silence_limit;
}

}  // namespace agw
