// Measures an app, directly or through the gateway:
//
//   load_app <port> <path> <token> blob <count>    that many responses, one after the other: {"seconds", "bytes"}
//   load_app <port> <path> <token> echo <count>    that many messages over a WebSocket: {"times": {"p50", "p99", …}}
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "bench/net.hpp"
#include "bench/times.hpp"

using namespace agw::bench;

namespace {

std::string request(const std::string& path, const std::string& token, std::string_view fields) {
  return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + token + "\r\n" +
         std::string(fields) + "\r\n";
}

/// Reads a head; returns the bytes after it.
std::string read_head(int socket, std::string& head) {
  std::vector<char> buffer(64 * 1024);
  for (;;) {
    const auto size = check(static_cast<int>(recv(socket, buffer.data(), buffer.size(), 0)), "recv");
    if (size == 0) fail("the connection ended within a head");
    head.append(buffer.data(), static_cast<std::size_t>(size));
    const auto end = head.find("\r\n\r\n");
    if (end == head.npos) continue;
    auto rest = head.substr(end + 4);
    head.resize(end + 4);
    return rest;
  }
}

void load_blobs(int socket, const std::string& asked, int count) {
  std::vector<char> buffer(1024 * 1024);
  std::size_t bytes = 0;
  const auto began = now();
  for (int i = 0; i < count; ++i) {
    send_all(socket, asked);
    std::string head;
    const auto rest = read_head(socket, head);
    if (!head.starts_with("HTTP/1.1 200")) fail(head);
    const auto length = std::strtoull(head.c_str() + head.find("Content-Length: ") + 16, nullptr, 10);
    bytes += length;
    for (auto left = length - rest.size(); left > 0;) {
      const auto size = check(static_cast<int>(recv(socket, buffer.data(), buffer.size(), 0)), "recv");
      if (size == 0) fail("the connection ended within an answer");
      left -= static_cast<std::size_t>(size);
    }
  }
  std::printf("{\"seconds\": %.6f, \"bytes\": %zu}\n", static_cast<double>(now() - began) / 1e9, bytes);
}

void load_echo(int socket, const std::string& asked, int count) {
  send_all(socket, asked);
  std::string head;
  read_head(socket, head);
  if (!head.starts_with("HTTP/1.1 101")) fail(head);
  const std::string message(64, 'm');
  std::vector<char> buffer(message.size());
  Times times;
  for (int i = 0; i < count; ++i) {
    const auto began = now();
    send_all(socket, message);
    check(static_cast<int>(recv(socket, buffer.data(), buffer.size(), MSG_WAITALL)), "recv");
    times.add(static_cast<double>(now() - began) / 1e9);
  }
  std::printf("{\"times\": %s}\n", times.to_json().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) fail("load_app <port> <path> <token> blob|echo <count>");
  const int socket = connect_to(std::atoi(argv[1]));
  const bool echoes = std::string_view(argv[4]) == "echo";
  const auto upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const auto asked = request(argv[2], argv[3], echoes ? upgrade : "");
  (echoes ? load_echo : load_blobs)(socket, asked, std::atoi(argv[5]));
  close(socket);
}
