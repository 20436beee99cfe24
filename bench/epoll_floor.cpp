// The baseline of an HTTP response: one thread, epoll, and fixed bytes (from standard input) for each request,
// regardless of its content. A request must arrive in one piece, as wrk sends it. Prints its port.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "bench/net.hpp"

using namespace agw::bench;

namespace {

void add(int epoll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  check(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

void respond(int connection, std::string_view response) {
  std::array<char, 16384> buffer;
  const ssize_t size = recv(connection, buffer.data(), buffer.size(), 0);
  if (size <= 0) {
    close(connection);
    return;
  }
  const std::string_view requests(buffer.data(), static_cast<std::size_t>(size));
  for (auto at = requests.find("\r\n\r\n"); at != requests.npos; at = requests.find("\r\n\r\n", at + 4)) {
    if (send(connection, response.data(), response.size(), MSG_NOSIGNAL) < 0) return;
  }
}

}  // namespace

int main() {
  raise_file_limit();
  const std::string response{std::istreambuf_iterator<char>(std::cin), {}};
  const int listener = listen_on_loopback();
  const int epoll = check(epoll_create1(0), "epoll_create1");
  add(epoll, listener);
  std::printf("%d\n", port_of(listener));
  std::fflush(stdout);

  std::array<epoll_event, 64> events;
  while (true) {
    const int ready = check(epoll_wait(epoll, events.data(), events.size(), -1), "epoll_wait");
    for (int i = 0; i < ready; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor != listener) {
        respond(descriptor, response);
      } else {
        add(epoll, check(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK), "accept4"));
      }
    }
  }
}
