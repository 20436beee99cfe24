#include "features/apps/idle_connections.hpp"

#include <algorithm>

#include <boost/asio/buffer.hpp>

#include "base/async/assert.hpp"

namespace agw {

using asio::ip::tcp;

namespace {

/// Whether the peer has neither closed the connection nor sent unexpected bytes.
bool is_idle(tcp::socket& socket) {
  char byte = 0;
  boost::system::error_code error;
  socket.non_blocking(true, error);
  socket.receive(asio::buffer(&byte, 1), tcp::socket::message_peek, error);
  return error == asio::error::would_block || error == asio::error::try_again;
}

}  // namespace

/// Each connection will be closed: the timer runs, and they end in their order.
void IdleConnections::assert_invariants() const {
  AGW_ASSERT(idle_.size() <= max_total);
  AGW_ASSERT(idle_.empty() || is_scheduled_);
  AGW_ASSERT(idle_.empty() || !closed_);
  AGW_DEBUG_ASSERT(std::ranges::is_sorted(idle_, {}, &Idle::end));
}

std::optional<tcp::socket> IdleConnections::take(int port) {
  for (auto idle = idle_.end(); idle != idle_.begin();) {
    if ((--idle)->port != port) continue;
    auto socket = std::move(idle->socket);
    idle = idle_.erase(idle);
    if (is_idle(socket)) return socket;
  }
  return std::nullopt;
}

void IdleConnections::add(int port, tcp::socket socket) {
  assert_invariants();
  if (closed_) return;
  const auto to_port = [&](const Idle& idle) { return idle.port == port; };
  if (static_cast<std::size_t>(std::ranges::count_if(idle_, to_port)) >= max_per_port)
    idle_.erase(std::ranges::find_if(idle_, to_port));
  if (idle_.size() >= max_total) idle_.pop_front();
  idle_.push_back({port, std::chrono::steady_clock::now() + limit_, std::move(socket)});
  if (!is_scheduled_) schedule_cleanup();
  assert_invariants();
}

void IdleConnections::close_port(int port) {
  assert_invariants();
  std::erase_if(idle_, [&](const Idle& idle) { return idle.port == port; });
}

void IdleConnections::close() {
  closed_ = true;
  idle_.clear();
  timer_.cancel();
  assert_invariants();
}

void IdleConnections::schedule_cleanup() {
  AGW_ASSERT(!idle_.empty());
  AGW_ASSERT(!is_scheduled_);
  is_scheduled_ = true;
  timer_.expires_at(idle_.front().end);
  timer_.async_wait([this](boost::system::error_code stopped) {
    if (!stopped) close_expired();
  });
}

void IdleConnections::close_expired() {
  is_scheduled_ = false;
  const auto now = std::chrono::steady_clock::now();
  while (!idle_.empty() && idle_.front().end <= now) idle_.pop_front();
  if (!idle_.empty()) schedule_cleanup();
  assert_invariants();
}

}  // namespace agw
