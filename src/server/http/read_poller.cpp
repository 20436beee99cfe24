// Why there are three passes, and why no event is missed. See docs/design/performance.md and concurrency.md.
//
// The loop watches one descriptor: an epoll of the poller, which contains the sockets of idle connections. A pass
// iterates over the up to 32 sockets reported by one `epoll_wait`: the first receives from all of them, the second
// handles all requests, the third sends all responses.
//
// The sockets are edge-triggered: each arrival of bytes is reported once. A handler that is not reading at that time
// must therefore remember the report (RequestReader::on_readable), and may wait again only after a read that drained
// the socket. The end of a stream is remembered until it has been read.
//
// A handler may be removed during the passes; the pointer in its events is then set to null. `run` polls again while
// several sockets were ready. After about 64 of them it lets the loop do other work.

#include "server/http/read_poller.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/assert.hpp"
#include "io/files/descriptor.hpp"

namespace agw {

namespace {

constexpr std::size_t max_at_once = 64;  // before the loop runs other work

/// Null if the handler was removed.
ReadHandler* handler_of(const epoll_event& event) { return static_cast<ReadHandler*>(event.data.ptr); }

}  // namespace

ReadPoller::ReadPoller(Loop& loop) : epoll_(loop) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) throw_errno("epoll_create1");
  epoll_.assign(epoll);
}

void ReadPoller::add(int socket, ReadHandler& handler) {
  AGW_ASSERT(socket >= 0);
  // Edge-triggered, so that a connection busy with one request is not reported repeatedly for the next one.
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.ptr = &handler}};
  if (epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, socket, &event) < 0) throw_errno("epoll_ctl");
}

void ReadPoller::remove(int socket, ReadHandler& handler) {
  epoll_ctl(epoll_.native_handle(), EPOLL_CTL_DEL, socket, nullptr);
  for (auto& event : ready()) {
    if (event.data.ptr == &handler) event.data.ptr = nullptr;
  }
}

Task<> ReadPoller::run() {
  for (;;) {
    co_await epoll_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    // If several were ready, more have become ready since, and polling again is cheaper than waiting.
    std::size_t handled = 0;
    for (std::size_t count = poll(); count > 1 && handled < max_at_once; count = poll()) handled += count;
  }
}

/// Makes the three passes over the sockets that are ready; returns their number.
std::size_t ReadPoller::poll() {
  static_assert(std::tuple_size_v<decltype(events_)> <= max_at_once);
  AGW_ASSERT(count_ == 0);  // handlers do not poll
  const int found = epoll_wait(epoll_.native_handle(), events_.data(), static_cast<int>(events_.size()), 0);
  count_ = static_cast<std::size_t>(std::max(0, found));
  for (const auto& event : ready()) {
    const bool peer_closed = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (auto* handler = handler_of(event)) handler->on_readable(peer_closed);
  }
  for (const auto& event : ready()) {
    if (auto* handler = handler_of(event)) handler->on_respond();
  }
  for (const auto& event : ready()) {
    if (auto* handler = handler_of(event)) handler->on_flush();
  }
  return std::exchange(count_, 0);
}

}  // namespace agw
