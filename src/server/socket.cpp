#include "server/socket.hpp"

#include <algorithm>
#include <array>

#include <boost/asio/post.hpp>

namespace agw {

using namespace std::chrono_literals;
using websocket::CloseCode;
using websocket::Incoming;
using websocket::Opcode;

namespace {

constexpr auto ping_interval = 30s;
constexpr auto time_to_close = 10s;
constexpr std::size_t pieces_at_once = 32;
constexpr std::size_t most_waiting_before_more = 256 * 1024;

}  // namespace

void SocketFlusher::flush_later(Socket& socket) {
  waiting_.push_back(&socket);
  if (posted_) return;
  posted_ = true;
  asio::post(loop_, [this] { flush(); });
}

void SocketFlusher::forget(Socket& socket) { std::erase(waiting_, &socket); }

void SocketFlusher::flush() {
  posted_ = false;
  for (auto* socket : std::exchange(waiting_, {})) socket->flush();
}

Socket::Socket(Loop& loop, Wire& wire, SocketFlusher& flusher, Subscription::RunsUnderWay runs_under_way)
    : writers_(loop), wire_(wire), flusher_(flusher), subscription_(std::move(runs_under_way)) {}

Socket::~Socket() { flusher_.forget(*this); }

Task<> Socket::run(std::string bytes) {
  while (!done_reading_) {
    frames_.put(bytes);
    std::string().swap(bytes);
    while (auto incoming = frames_.next()) {
      take(*incoming);
      if (queued_bytes_ > most_waiting_before_more) co_await let_some_go();
    }
    frames_.shrink();
    if (!done_reading_ && !co_await wire_.receive(bytes)) give_up();
  }
  // The answer to a close still goes out; a client that does not read it is given up by `sweep`.
  flush();
  co_await writers_.join();
}

/// Whoever sends more than it reads waits for its own answers. Events are not held up: they wait, up to `queue_limit`.
Task<> Socket::let_some_go() {
  flush();
  while (queued_bytes_ > most_waiting_before_more && !closing_ && !broken_ && co_await wire_.writable()) continue;
}

void Socket::give_up() {
  done_reading_ = true;
  broken_ = true;
  wire_.interrupt();
}

void Socket::take(const Incoming& incoming) {
  switch (incoming.kind) {
    case Incoming::Kind::text: {
      auto answer = websocket::frame(Opcode::text, subscription_.take(incoming.payload));
      queue({std::move(answer), nullptr});
      return;
    }
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

void Socket::deliver(const SharedEvent& event) {
  if (closing_ || !subscription_.wants(*event)) return;
  queue({websocket::frame_header(Opcode::text, event->text.size()), event});
}

void Socket::close(CloseCode code, std::string_view reason) {
  if (closing_) return;
  append({websocket::close_frame(code, reason), nullptr});
  closing_ = true;
  close_deadline_ = std::chrono::steady_clock::now() + time_to_close;
}

void Socket::queue(Piece piece) {
  if (closing_) return;
  append(std::move(piece));
  // A reader is only behind once it had the chance to take what it is sent.
  if (held_up() > queue_limit) {
    if (writing_)
      send_what_goes();
    else
      flush();
  }
  if (held_up() > queue_limit && !broken_) cut_off();
}

void Socket::append(Piece piece) {
  queued_bytes_ += piece.size();
  const bool was_empty = queue_.empty();
  queue_.push_back(std::move(piece));
  if (was_empty && !writing_) flusher_.flush_later(*this);
}

/// What waits for the reader, but for a frame on its way that by itself is more than may wait.
std::size_t Socket::held_up() const {
  const auto front = queue_.empty() ? 0 : queue_.front().size();
  return front > queue_limit ? queued_bytes_ - front : queued_bytes_;
}

void Socket::send_what_goes() {
  while (!queue_.empty() && write_once()) continue;
}

/// Drops all but a frame that has begun to go out, and says why.
void Socket::cut_off() {
  const std::size_t keep = written_of_front_ > 0 ? 1 : 0;
  while (queue_.size() > keep) {
    queued_bytes_ -= queue_.back().size();
    queue_.pop_back();
  }
  close(CloseCode::try_again_later, "reads too slowly");
}

void Socket::flush() {
  if (writing_ || queue_.empty()) return;
  send_what_goes();
  if ((queue_.empty() && !wire_.holds_back()) || broken_) return;
  writing_ = true;
  writers_.spawn(write_rest());
}

/// Writes as many pieces as fit at once; false when nothing more goes, or the connection broke.
bool Socket::write_once() {
  std::array<asio::const_buffer, 2 * pieces_at_once> buffers;
  std::size_t count = 0;
  std::size_t total = 0;
  std::size_t skip = written_of_front_;
  const auto add = [&](std::string_view bytes) {
    const auto skipped = std::min(skip, bytes.size());
    skip -= skipped;
    bytes.remove_prefix(skipped);
    total += bytes.size();
    if (!bytes.empty()) buffers[count++] = asio::buffer(bytes);
  };
  for (std::size_t i = 0; i < std::min(queue_.size(), pieces_at_once); ++i) {
    add(queue_[i].bytes);
    if (queue_[i].event) add(queue_[i].event->text);
  }
  const auto written = wire_.send_some({buffers.data(), count});
  if (!written) {
    give_up();
    return false;
  }
  drop_written(*written);
  return *written == total && !wire_.holds_back();
}

void Socket::drop_written(std::size_t count) {
  written_of_front_ += count;
  while (!queue_.empty() && written_of_front_ >= queue_.front().size()) {
    written_of_front_ -= queue_.front().size();
    queued_bytes_ -= queue_.front().size();
    queue_.pop_front();
  }
  if (queue_.empty()) queue_.shrink_to_fit();
}

Task<> Socket::write_rest() {
  while ((!queue_.empty() || wire_.holds_back()) && !broken_) {
    if (!write_once() && !broken_ && !co_await wire_.writable()) break;
  }
  writing_ = false;
}

void Socket::sweep(Wire::Moment now) {
  if (close_deadline_ && now > *close_deadline_) {
    give_up();
  } else if (!closing_ && now - wire_.last_activity() >= ping_interval && now - last_ping_ >= ping_interval) {
    last_ping_ = now;
    queue({websocket::frame(Opcode::ping, {}), nullptr});
  }
}

}  // namespace agw
