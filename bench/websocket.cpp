#include "bench/websocket.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "bench/net.hpp"

namespace agw::bench {

namespace {

constexpr unsigned char opcode_text = 0x1, opcode_close = 0x8, opcode_ping = 0x9, opcode_pong = 0xA;

std::size_t big_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

WebSocket::WebSocket(int port, const std::string& token) : socket_(connect_to(port)) {
  send_all(socket_, "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
                        "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer " +
                        token + "\r\n\r\n");
  std::array<char, 4096> buffer;
  while (rest_.find("\r\n\r\n") == std::string::npos) {
    const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
    if (size <= 0) fail("the gateway closed the connection before the upgrade");
    rest_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  errno = 0;
  if (!rest_.starts_with("HTTP/1.1 101")) fail("no upgrade: " + rest_);
  rest_.erase(0, rest_.find("\r\n\r\n") + 4);
  set_non_blocking(socket_);
}

WebSocket::~WebSocket() { close(socket_); }

bool WebSocket::read(const std::function<void(std::string_view text)>& on_text) {
  std::array<char, 65536> buffer;
  const ssize_t size = recv(socket_, buffer.data(), buffer.size(), 0);
  if (size < 0) return errno == EAGAIN;
  if (size == 0) return false;
  rest_.append(buffer.data(), static_cast<std::size_t>(size));
  std::size_t taken = 0;
  while (const std::size_t frame = take_frame(std::string_view(rest_).substr(taken), on_text)) taken += frame;
  rest_.erase(0, taken);
  return open_;
}

std::size_t WebSocket::take_frame(std::string_view bytes, const std::function<void(std::string_view text)>& on_text) {
  if (bytes.size() < 2) return 0;
  std::size_t head = 2;
  std::size_t size = static_cast<unsigned char>(bytes[1]) & 0x7FU;
  if (size >= 126) {
    const std::size_t extended = size == 126 ? 2 : 8;
    if (bytes.size() < head + extended) return 0;
    size = big_endian(bytes.substr(head, extended));
    head += extended;
  }
  if (bytes.size() < head + size) return 0;
  const std::string_view payload = bytes.substr(head, size);
  const auto opcode = static_cast<unsigned char>(bytes[0] & 0x0F);
  if (opcode == opcode_text) on_text(payload);
  if (opcode == opcode_ping) send_frame(opcode_pong, payload);
  if (opcode == opcode_close) open_ = false;
  return head + size;
}

// A client's frames are masked. A mask of zeros does not change the bytes.
void WebSocket::send_frame(unsigned char opcode, std::string_view payload) {
  std::string frame{static_cast<char>(0x80 | opcode)};
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else {
    frame += static_cast<char>(0x80 | 126);
    frame += static_cast<char>(payload.size() >> 8 & 0xFF);
    frame += static_cast<char>(payload.size() & 0xFF);
  }
  frame.append(4, '\0');
  frame += payload;
  send_all(socket_, frame);
}

}  // namespace agw::bench
