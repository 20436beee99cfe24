#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

/// What the measuring programs share: loopback sockets and the bare epoll loop. Whatever fails ends the program with a
/// message, because a figure that was taken after an error is worth nothing.
namespace agw::bench {

/// Ends the program: what was tried, and the system's reason where `errno` holds one.
[[noreturn]] void fail(std::string_view what);
/// Passes `result` on; -1 fails.
int check(int result, std::string_view what);

/// CLOCK_MONOTONIC in nanoseconds: the same clock in every process of the machine.
std::int64_t now();

/// Lets the process open as many files as the system allows it.
void raise_file_limit();

/// A listening socket on that port of 127.0.0.1, by default a free one; non-blocking.
int listen_on_loopback(int port = 0);
int port_of(int socket);
/// A connected socket, blocking, without Nagle's delay.
int connect_to(int port);
void set_non_blocking(int socket);
void send_all(int socket, std::string_view bytes);

/// An epoll set with one handler for each descriptor, level-triggered.
class Poll {
public:
  using Handler = std::function<void()>;

  Poll();
  void watch(int descriptor, Handler handler);
  /// The descriptor is not closed.
  void forget(int descriptor);
  /// Calls the handlers of what is readable; waits for `timeout_ns` at most, -1 for ever.
  void run_once(std::int64_t timeout_ns);

private:
  int epoll_;
  std::unordered_map<int, Handler> handlers_;
};

}  // namespace agw::bench
