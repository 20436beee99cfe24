#include "bench/net.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

namespace agw::bench {

namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

}  // namespace

void fail(std::string_view what) {
  std::fprintf(stderr, "%.*s%s%s\n", static_cast<int>(what.size()), what.data(), errno != 0 ? ": " : "",
               errno != 0 ? std::strerror(errno) : "");
  std::exit(1);
}

int check(int result, std::string_view what) {
  if (result < 0) fail(what);
  return result;
}

std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void raise_file_limit() {
  rlimit limit{};
  check(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  check(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

int listen_on_loopback(int port) {
  const int listener = check(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  const sockaddr_in address = loopback(port);
  check(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  check(listen(listener, SOMAXCONN), "listen");
  return listener;
}

int port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  check(getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  return ntohs(address.sin_port);
}

int connect_to(int port) {
  const int connection = check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  const int yes = 1;
  check(setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), "TCP_NODELAY");
  const sockaddr_in address = loopback(port);
  check(connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  return connection;
}

void set_non_blocking(int socket) {
  check(fcntl(socket, F_SETFL, check(fcntl(socket, F_GETFL), "fcntl") | O_NONBLOCK), "fcntl");
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) fail("send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

Poll::Poll() : epoll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

void Poll::watch(int descriptor, Handler handler) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  check(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
  handlers_[descriptor] = std::move(handler);
}

void Poll::forget(int descriptor) {
  check(epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr), "epoll_ctl");
  handlers_.erase(descriptor);
}

void Poll::run_once(std::int64_t timeout_ns) {
  std::array<epoll_event, 256> events;
  const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  const int ready = epoll_pwait2(epoll_, events.data(), events.size(), timeout_ns < 0 ? nullptr : &timeout, nullptr);
  if (ready < 0 && errno != EINTR) fail("epoll_pwait2");
  for (int i = 0; i < ready; ++i) {
    const auto found = handlers_.find(events[static_cast<std::size_t>(i)].data.fd);
    if (found == handlers_.end()) continue;
    const Handler handler = found->second;  // a copy, because the handler may remove itself
    handler();
  }
}

}  // namespace agw::bench
