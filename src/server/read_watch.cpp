#include "server/read_watch.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "io/descriptor.hpp"

namespace agw {

namespace {

constexpr std::size_t most_at_once = 64;  // before others have a turn

/// Null for one that was removed.
Readable* readable(const epoll_event& event) { return static_cast<Readable*>(event.data.ptr); }

}  // namespace

ReadWatch::ReadWatch(Loop& loop) : epoll_(loop) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) throw_errno("epoll_create1");
  epoll_.assign(epoll);
}

void ReadWatch::add(int socket, Readable& who) {
  // Told once for what arrives: whoever is busy with one request is not told of the next again and again.
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data = {.ptr = &who}};
  if (epoll_ctl(epoll_.native_handle(), EPOLL_CTL_ADD, socket, &event) < 0) throw_errno("epoll_ctl");
}

void ReadWatch::remove(int socket, Readable& who) {
  epoll_ctl(epoll_.native_handle(), EPOLL_CTL_DEL, socket, nullptr);
  for (auto& event : ready()) {
    if (event.data.ptr == &who) event.data.ptr = nullptr;
  }
}

Task<> ReadWatch::run() {
  for (;;) {
    co_await epoll_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    // Where several were ready more are meanwhile, and asking again is cheaper than waiting again. Then it is others'
    // turn.
    std::size_t told = 0;
    for (std::size_t count = tell_ready(); count > 1 && told < most_at_once; count = tell_ready()) told += count;
  }
}

/// How many there were.
std::size_t ReadWatch::tell_ready() {
  const int found = epoll_wait(epoll_.native_handle(), events_.data(), static_cast<int>(events_.size()), 0);
  count_ = static_cast<std::size_t>(std::max(0, found));
  for (const auto& event : ready()) {
    const bool ended = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (auto* who = readable(event)) who->receive(ended);
  }
  for (const auto& event : ready()) {
    if (auto* who = readable(event)) who->answer();
  }
  for (const auto& event : ready()) {
    if (auto* who = readable(event)) who->send();
  }
  return std::exchange(count_, 0);
}

}  // namespace agw
