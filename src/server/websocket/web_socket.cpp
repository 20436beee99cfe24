// An open WebSocket: received messages, the queue of outgoing ones, and the closing.
//
// The *queue* contains frames in order; `queued_bytes_` is the sum of their sizes, and `front_written_` the bytes of
// the first frame already sent. A *long text* is a frame whose pieces are made only when the earlier frames were sent
// (`rest`). The *backlog* is the queue without a first frame that alone exceeds the limit.
//
// The invariants: bytes are sent in the order of the queue; there is at most one long text; after a close frame nothing
// is queued. A client that reads too slowly is disconnected (`close_slow_reader`), so that one client costs at most the
// limit.
//
//   1. `run` reads, passes each message to the derived class, and stops reading while the backlog is large: a client
//      that sends faster than it reads has to wait.
//   2. `append` schedules a flush at the end of the loop's turn, so that one call sends the events of one turn.
//   3. `flush` sends as much as the kernel accepts; one coroutine (`write_rest`) sends the rest whenever the socket is
//      writable. While it is active, no other code sends, except to make room.
//   4. `close` queues the close frame and gives the client ten seconds for its own. `sweep` then aborts the socket. It
//      also disconnects a client whose full queue has not moved for half a minute, and pings idle clients.
//
// In every case `run` joins the writer before it returns.

#include "server/websocket/web_socket.hpp"

#include <algorithm>
#include <array>

#include <boost/asio/post.hpp>

#include "base/async/assert.hpp"

namespace agw {

using namespace std::chrono_literals;
using websocket::CloseCode;
using websocket::Incoming;
using websocket::Opcode;

namespace {

constexpr auto ping_interval = 30s;
constexpr auto max_close_handshake = 10s;
/// How long a client may accept nothing of a message that exceeds `queue_limit` or is made in pieces.
constexpr auto max_standstill = 30s;
constexpr std::size_t max_frames_per_write = 32;
/// Limits writes in a row: a client that reads as fast as we write would block the loop until everything is sent.
constexpr int max_writes_at_once = 16;
constexpr std::size_t max_backlog_while_reading = 256 * 1024;
static_assert(max_backlog_while_reading < WebSocket::queue_limit);  // a client that only sends is never disconnected

}  // namespace

void WebSocketFlusher::flush_later(WebSocket& socket) {
  AGW_ASSERT(posted_ || waiting_.empty());
  waiting_.push_back(&socket);
  if (posted_) return;
  posted_ = true;
  asio::post(loop_, [this] { flush(); });
}

void WebSocketFlusher::forget(WebSocket& socket) { std::erase(waiting_, &socket); }

void WebSocketFlusher::flush() {
  AGW_ASSERT(posted_);
  posted_ = false;
  for (auto* socket : std::exchange(waiting_, {})) socket->flush();
}

WebSocket::WebSocket(Loop& loop, SocketStream& stream, WebSocketFlusher& flusher, std::size_t message_limit)
    : writers_(loop), stream_(stream), flusher_(flusher), frames_(message_limit) {}

WebSocket::~WebSocket() { flusher_.forget(*this); }

/// What holds whenever no member function is running.
void WebSocket::assert_invariants() const {
  AGW_ASSERT(closing_ == close_deadline_.has_value());
  AGW_ASSERT(!broken_ || done_reading_);
  AGW_ASSERT(!queue_.empty() || queued_bytes_ == 0);
  AGW_ASSERT(!queue_.empty() || !has_long_text_);
  AGW_ASSERT(front_written_ <= queued_bytes_);
  AGW_ASSERT(front_written_ == 0 || front_written_ < queue_.front().size());
  AGW_DEBUG_ASSERT(queued_bytes_ == bytes_in_queue());
}

std::size_t WebSocket::bytes_in_queue() const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < queue_.size(); ++i) bytes += queue_[i].size();
  return bytes;
}

Task<> WebSocket::run(std::string bytes) {
  while (!done_reading_) {
    frames_.put(bytes);
    std::string().swap(bytes);
    while (auto incoming = frames_.next()) {
      take(std::move(*incoming));
      if (is_behind()) co_await wait_for_reader();
    }
    frames_.shrink();
    if (!done_reading_) co_await ready_for_more();
    if (!done_reading_ && !co_await stream_.receive(bytes)) abort();
  }
  // The response to a close frame is still sent; `sweep` aborts a client that does not read it.
  flush();
  co_await writers_.join();
  AGW_ASSERT(!writing_);
  assert_invariants();
}

/// Reads no further requests from a client that does not read their responses. Events are still queued, up to
/// `queue_limit`.
Task<> WebSocket::wait_for_reader() {
  flush();
  while (is_behind() && !closing_ && !broken_ && co_await stream_.wait_writable()) continue;
}

bool WebSocket::is_behind() const { return queued_bytes_ > max_backlog_while_reading || has_long_text_; }

void WebSocket::abort() {
  done_reading_ = true;
  broken_ = true;
  stream_.interrupt();
  closed();
}

void WebSocket::take(Incoming incoming) {
  switch (incoming.kind) {
    case Incoming::Kind::text:
      if (!closing_) received(std::move(incoming.payload));
      return;
    case Incoming::Kind::ping:
      queue({websocket::frame(Opcode::pong, incoming.payload), nullptr});
      return;
    case Incoming::Kind::pong:
      return;
    case Incoming::Kind::close:
    case Incoming::Kind::violation:
      close(incoming.code, incoming.payload);
      done_reading_ = true;
      return;
  }
}

void WebSocket::queue_text(std::string_view text) { queue({websocket::frame(Opcode::text, text), nullptr}); }

void WebSocket::queue_text(SharedMessage text) {
  AGW_ASSERT(text);
  const auto size = text->size();
  queue({websocket::frame_header(Opcode::text, size), std::move(text)});
}

void WebSocket::queue_text(std::unique_ptr<LongText> text) {
  if (closing_ || broken_ || has_long_text_) return;  // a second long text occurs only when the connection ends
  has_long_text_ = true;
  queue({.bytes = {}, .rest = std::move(text)});
}

void WebSocket::close(CloseCode code, std::string_view reason) {
  if (closing_) return;
  append({websocket::close_frame(code, reason), nullptr});
  closing_ = true;
  close_deadline_ = std::chrono::steady_clock::now() + max_close_handshake;
  closed();
}

void WebSocket::queue(QueuedFrame frame) {
  if (closing_ || broken_) return;
  append(std::move(frame));
  // The client causes the backlog only after an attempt to send.
  if (backlog() > queue_limit) {
    if (writing_)
      make_room();
    else
      flush();
  }
  if (backlog() > queue_limit && !broken_) close_slow_reader();
}

void WebSocket::append(QueuedFrame frame) {
  AGW_ASSERT(!closing_);
  AGW_ASSERT(frame.size() > 0 || frame.rest);
  AGW_ASSERT(!frame.rest || !frame.message);
  queued_bytes_ += frame.size();
  const bool was_empty = queue_.empty();
  queue_.push_back(std::move(frame));
  if (was_empty && !writing_) flusher_.flush_later(*this);
}

/// Queued bytes, except those of a first frame that exceeds `queue_limit` by itself.
std::size_t WebSocket::backlog() const {
  const auto front = queue_.empty() ? 0 : queue_.front().size();
  AGW_ASSERT(front <= queued_bytes_);
  return front > queue_limit ? queued_bytes_ - front : queued_bytes_;
}

bool WebSocket::has_unsent() const { return !queue_.empty() || stream_.has_unsent_ciphertext(); }

void WebSocket::write_part() {
  for (int writes = 0; writes < max_writes_at_once && has_unsent(); ++writes) {
    if (!write_once()) return;
  }
}

void WebSocket::make_room() {
  while (backlog() > queue_limit && write_once()) continue;
}

/// Drops all frames except a partly sent one, and closes with 1013.
void WebSocket::close_slow_reader() {
  const std::size_t keep = front_written_ > 0 ? 1 : 0;
  AGW_ASSERT(keep <= queue_.size());
  if (keep > 0) queue_.front().rest.reset();
  has_long_text_ = false;
  while (queue_.size() > keep) {
    AGW_ASSERT(queued_bytes_ >= queue_.back().size());
    queued_bytes_ -= queue_.back().size();
    queue_.pop_back();
  }
  AGW_ASSERT(queued_bytes_ == (queue_.empty() ? 0 : queue_.front().size()));
  close(CloseCode::try_again_later, "reads too slowly");
}

void WebSocket::flush() {
  assert_invariants();
  if (writing_ || queue_.empty()) return;
  write_part();
  make_room();
  if (!has_unsent() || broken_) return;
  writing_ = true;
  writers_.spawn(write_rest());
}

/// Makes the next frame of a message sent in several frames, once the previous one was sent.
void WebSocket::make_next_piece() {
  if (queue_.empty() || !queue_.front().rest || !queue_.front().bytes.empty()) return;
  AGW_ASSERT(front_written_ == 0);
  AGW_ASSERT(has_long_text_);
  auto& frame = queue_.front();
  std::string piece;
  bool more = true;
  while (more && piece.size() < long_text_piece) {
    const auto next = frame.rest->next();
    more = !next.empty();
    piece += next;
  }
  frame.bytes = websocket::frame_header(frame.continues ? Opcode::continuation : Opcode::text, piece.size(), !more);
  frame.bytes += piece;
  frame.continues = true;
  queued_bytes_ += frame.bytes.size();
  if (more) return;
  frame.rest.reset();
  has_long_text_ = false;
}

/// Writes as many frames as possible without waiting. Returns false if the socket is full or the connection broke.
bool WebSocket::write_once() {
  make_next_piece();
  std::array<asio::const_buffer, 2 * max_frames_per_write> buffers;
  std::size_t count = 0;
  std::size_t total = 0;
  std::size_t skip = front_written_;
  const auto add = [&](std::string_view bytes) {
    const auto skipped = std::min(skip, bytes.size());
    skip -= skipped;
    bytes.remove_prefix(skipped);
    total += bytes.size();
    if (!bytes.empty()) buffers[count++] = asio::buffer(bytes);
  };
  for (std::size_t i = 0; i < std::min(queue_.size(), max_frames_per_write); ++i) {
    add(queue_[i].bytes);
    if (queue_[i].message) add(*queue_[i].message);
    if (queue_[i].rest) break;  // later frames must follow pieces that do not exist yet
  }
  AGW_ASSERT(skip == 0);
  AGW_ASSERT(count <= buffers.size());
  const auto written = stream_.try_send({buffers.data(), count});
  if (!written) {
    abort();
    return false;
  }
  AGW_ASSERT(*written <= total);
  drop_written(*written);
  return *written == total && !stream_.has_unsent_ciphertext();
}

void WebSocket::drop_written(std::size_t count) {
  front_written_ += count;
  while (!queue_.empty() && front_written_ >= queue_.front().size()) {
    auto& front = queue_.front();
    AGW_ASSERT(queued_bytes_ >= front.size());
    front_written_ -= front.size();
    queued_bytes_ -= front.size();
    if (front.rest) {
      AGW_ASSERT(front_written_ == 0);  // nothing behind it was sent
      front.bytes.clear();
      return;
    }
    queue_.pop_front();
  }
  AGW_ASSERT(!queue_.empty() || front_written_ == 0);
  AGW_ASSERT(!queue_.empty() || queued_bytes_ == 0);
}

Task<> WebSocket::write_rest() {
  AGW_ASSERT(writing_);
  while (has_unsent() && !broken_) {
    write_part();
    if (has_unsent() && !broken_ && !co_await stream_.wait_writable()) break;
  }
  writing_ = false;
}

void WebSocket::sweep(SocketStream::TimePoint now) {
  assert_invariants();
  if (close_deadline_ && now > *close_deadline_) {
    abort();
  } else if (!closing_ && (queued_bytes_ > queue_limit || has_long_text_) &&
             now - stream_.last_activity() >= max_standstill) {
    close_slow_reader();
  } else if (!closing_ && now - stream_.last_activity() >= ping_interval && now - last_ping_ >= ping_interval) {
    last_ping_ = now;
    queue({websocket::frame(Opcode::ping, {}), nullptr});
  }
}

}  // namespace agw
