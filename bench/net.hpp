#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

/// Common parts of the measuring programs: loopback sockets and a minimal epoll loop. Any failure ends the program with
/// a message, because figures measured after an error are worthless.
namespace agw::bench {

/// Ends the program with a message that `what` failed, and the system's reason if `errno` is set.
[[noreturn]] void fail(std::string_view what);
/// Returns `result`; fails if it is -1.
int check(int result, std::string_view what);

/// CLOCK_MONOTONIC in nanoseconds: the same clock in all processes of the machine.
std::int64_t now();

/// Raises the process's limit of open files to the maximum.
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
  /// Does not close the descriptor.
  void forget(int descriptor);
  /// Calls the handlers of readable descriptors. Waits for at most `timeout_ns`; -1 means forever.
  void run_once(std::int64_t timeout_ns);

private:
  int epoll_;
  std::unordered_map<int, Handler> handlers_;
};

}  // namespace agw::bench
