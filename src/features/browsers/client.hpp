#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/message_socket.hpp"
#include "base/json/json.hpp"
#include "features/browsers/types.hpp"

namespace agw {

/// A picture of a tab.
struct BrowserPicture {
  std::int64_t number = 0;  ///< counts the pictures of a browser; 0: none
  std::string data;         ///< a JPEG in Base64
  double width = 0;         ///< of the view, in CSS pixels
  double height = 0;
  double scroll_x = 0;  ///< how far the page is scrolled, in CSS pixels
  double scroll_y = 0;
};

/// The socket of a person who uses a browser. Used on the loop.
/// Example: src/features/browsers/client_test.cpp: BrowserClientTest.GetsTheNextPictureOnceItHasShownOne
class BrowserClient {
public:
  explicit BrowserClient(MessageSocket& socket) : socket_(socket) {}

  /// Returns the next message; nullopt once the socket is closed or the browser has ended.
  Task<std::optional<std::string>> read();

  void send(const json::object& message) { socket_.send(to_json(message)); }
  /// Sends the picture unless the client has it, or still shows an earlier one. Returns whether it was sent.
  bool offer(const BrowserPicture& picture);
  /// The client has shown the pictures up to `seq`.
  void note_shown(std::int64_t seq);
  /// The browser has ended.
  void leave(BrowserEnd why);

private:
  MessageSocket& socket_;
  StopSource left_;
  std::int64_t sent_ = 0;
  std::int64_t shown_ = 0;
  std::int64_t last_picture_ = 0;  ///< its number
};

}  // namespace agw
