#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace agw::bench {

/// The least of a WebSocket client: it sends text, reads text, answers pings, and notices a close.
class WebSocket {
public:
  /// Connects and upgrades, waiting for both. Fails unless the answer is a 101.
  WebSocket(int port, const std::string& token);
  ~WebSocket();
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;

  int socket() const { return socket_; }
  void send_text(std::string_view text) { send_frame(0x1, text); }

  /// Reads what has arrived without waiting and hands each whole text message on. False once the connection is closed.
  bool read(const std::function<void(std::string_view text)>& on_text);

private:
  void send_frame(unsigned char opcode, std::string_view payload);
  /// Handles the first whole frame of `bytes`: its length, or 0 where more is needed.
  std::size_t take_frame(std::string_view bytes, const std::function<void(std::string_view text)>& on_text);

  int socket_;
  bool open_ = true;
  std::string rest_;
};

}  // namespace agw::bench
