// An app for measuring the proxy. Responds to each request with the number of bytes in its path (`/1000000`), and to
// each upgrade with an echo of its input. One thread for each connection, large buffers. Listens on $PORT.
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "bench/net.hpp"

using namespace agw::bench;

namespace {

constexpr std::size_t piece_size = 1024 * 1024;

bool send_some(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool send_blob(int connection, std::size_t size) {
  static const std::string piece(piece_size, 'x');
  const auto head =
      "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: " + std::to_string(size) +
      "\r\n\r\n";
  if (!send_some(connection, head)) return false;
  for (; size > 0; size -= std::min(size, piece_size)) {
    if (!send_some(connection, std::string_view(piece).substr(0, std::min(size, piece_size)))) return false;
  }
  return true;
}

void echo(int connection) {
  send_some(connection, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  std::array<char, 64 * 1024> buffer;
  for (ssize_t size = 0; (size = recv(connection, buffer.data(), buffer.size(), 0)) > 0;) {
    if (!send_some(connection, {buffer.data(), static_cast<std::size_t>(size)})) return;
  }
}

void serve(int connection) {
  const int at_once = 1;
  check(setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once), "setsockopt");
  std::array<char, 64 * 1024> buffer;
  for (ssize_t size = 0; (size = recv(connection, buffer.data(), buffer.size(), 0)) > 0;) {
    // Assumes that a request arrives in one piece.
    const std::string request(buffer.data(), static_cast<std::size_t>(size));
    if (request.find("websocket") != request.npos) {
      echo(connection);
      break;
    }
    if (!send_blob(connection, std::strtoull(request.c_str() + request.find('/') + 1, nullptr, 10))) break;
  }
  close(connection);
}

}  // namespace

int main() {
  const char* port = std::getenv("PORT");
  if (!port) fail("no PORT in the environment");
  const int listener = listen_on_loopback(std::atoi(port));
  check(fcntl(listener, F_SETFL, 0), "fcntl");
  while (true) std::thread(serve, check(accept(listener, nullptr, nullptr), "accept")).detach();
}
