#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace agw::bench {

/// A minimal WebSocket client: sends text, reads text, answers pings, and detects a close.
class WebSocket {
public:
  /// Connects and upgrades, blocking. Fails unless the response is 101.
  WebSocket(int port, const std::string& token);
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  int socket() const { return socket_; }
  void send_text(std::string_view text) { send_frame(0x1, text); }

  /// Reads without waiting, and calls `on_text` with each complete text message. Returns false once the connection is
  /// closed.
  bool read(const std::function<void(std::string_view text)>& on_text);

private:
  void send_frame(unsigned char opcode, std::string_view payload);
  /// Handles the first complete frame of `bytes`. Returns its length, or 0 if it is incomplete.
  std::size_t take_frame(std::string_view bytes, const std::function<void(std::string_view text)>& on_text);

  int socket_;
  bool open_ = true;
  std::string rest_;
};

}  // namespace agw::bench
