#include "server/http/request_reader.hpp"

#include "base/async/assert.hpp"

namespace agw {

namespace {

constexpr std::size_t idle_buffer_capacity = 4096;  // bytes that an idle connection's buffer may keep

}  // namespace

bool expects_continue(const Head& head) { return head.version == 11 && head.has_token("expect", "100-continue"); }

void RequestReader::on_readable(bool peer_closed) {
  if (peer_closed) {
    input_ = Input::closing;
  } else if (input_ == Input::drained) {
    input_ = Input::readable;
  }
}

RequestReader::Received RequestReader::try_receive() {
  switch (stream_.try_receive(buffer_)) {
    case SocketStream::Received::end:
      return Received::closed;
    case SocketStream::Received::would_block:
      input_ = Input::drained;
      return Received::nothing;
    case SocketStream::Received::more:
      return Received::bytes;
    case SocketStream::Received::bytes:
      if (input_ == Input::readable) input_ = Input::drained;
      return Received::bytes;
  }
  return Received::closed;
}

Task<bool> RequestReader::receive() { return stream_.receive(buffer_); }

RequestReader::Parsed RequestReader::parse_head() {
  AGW_ASSERT(!parser_.head_done());
  AGW_ASSERT(!parser_.refusal());
  const auto used = parser_.put(buffer_);
  AGW_ASSERT(used <= buffer_.size());
  buffer_.erase(0, used);
  if (parser_.refusal()) return Parsed::refused;
  return parser_.head_done() ? Parsed::complete : Parsed::incomplete;
}

void RequestReader::next_request() {
  AGW_ASSERT(parser_.done());  // otherwise the rest of the body would be taken for a request
  AGW_ASSERT(!parser_.refusal());
  parser_.reset();
}

void RequestReader::shrink_buffer() {
  if (buffer_.empty() && buffer_.capacity() > idle_buffer_capacity) std::string().swap(buffer_);
}

RequestReader::Body RequestReader::begin_body(std::size_t limit) {
  AGW_ASSERT(parser_.head_done());
  AGW_ASSERT(parser_.body_received() == 0);
  if (parser_.done()) return Body::complete;
  parser_.collect_body(limit);
  return buffer_.empty() ? Body::incomplete : parse_body();
}

RequestReader::Body RequestReader::parse_body() {
  AGW_ASSERT(parser_.head_done());
  const auto used = parser_.put(buffer_);
  AGW_ASSERT(used <= buffer_.size());
  buffer_.erase(0, used);
  if (parser_.refusal()) return Body::refused;
  if (parser_.body_too_large()) return Body::too_large;
  return parser_.done() ? Body::complete : Body::incomplete;
}

Task<RequestReader::Body> RequestReader::read_body() {
  AGW_ASSERT(parser_.head_done());
  AGW_ASSERT(!parser_.done());
  if (expects_continue(parser_.head()) && buffer_.empty() && parser_.body_received() == 0) {
    if (!co_await stream_.send("HTTP/1.1 100 Continue\r\n\r\n")) co_return Body::closed;
  }
  co_return co_await receive_body();
}

Task<RequestReader::Body> RequestReader::receive_body() {
  stream_.acknowledge();
  auto body = Body::incomplete;
  while (body == Body::incomplete) body = co_await receive() ? parse_body() : Body::closed;
  co_return body;
}

Task<bool> RequestReader::discard_body() {
  auto body = parse_body();
  if (body == Body::incomplete) body = co_await receive_body();
  co_return body == Body::complete;
}

}  // namespace agw
