// load_idle <port> <count> [token]: holds idle connections open until its standard input ends: WebSockets if a token is
// given, else plain TCP. Prints `open <n>` once all are open, and at the end `closed <n>`, the number that the server
// has closed.
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>

#include "bench/net.hpp"
#include "bench/websocket.hpp"

using namespace agw::bench;

int main(int count, char** arguments) {
  if (count < 3) fail("usage: load_idle <port> <count> [token]");
  raise_file_limit();
  const int port = std::atoi(arguments[1]);
  const int wanted = std::atoi(arguments[2]);

  Poll poll;
  std::deque<WebSocket> sockets;
  int closed = 0;
  for (int i = 0; i < wanted; ++i) {
    if (count < 4) {
      connect_to(port);
      continue;
    }
    WebSocket& socket = sockets.emplace_back(port, arguments[3]);
    poll.watch(socket.socket(), [&] {
      if (socket.read([](std::string_view) {})) return;
      ++closed;
      poll.forget(socket.socket());
    });
  }
  std::printf("open %d\n", wanted);
  std::fflush(stdout);

  bool ended = false;
  poll.watch(STDIN_FILENO, [&] {
    char byte = 0;
    ended = read(STDIN_FILENO, &byte, 1) <= 0;
  });
  while (!ended) poll.run_once(-1);
  std::printf("closed %d\n", closed);
}
