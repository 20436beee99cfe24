#include "features/browsers/client.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "api/socket_messages.hpp"
#include "base/async/assert.hpp"

namespace agw {

std::string_view to_text(BrowserEnd end) {
  switch (end) {
    case BrowserEnd::closed:
      return "closed";
    case BrowserEnd::crashed:
      return "crashed";
    case BrowserEnd::idle:
      return "idle";
    case BrowserEnd::lifetime:
      return "lifetime";
    case BrowserEnd::deleted:
      return "deleted";
    case BrowserEnd::disk:
      return "disk";
    case BrowserEnd::processes:
      return "processes";
    case BrowserEnd::stopped:
      return "stopped";
  }
  return {};
}

Task<std::optional<std::string>> BrowserClient::read() { return read_until(socket_, left_); }

bool BrowserClient::offer(const BrowserPicture& picture) {
  AGW_ASSERT(shown_ <= sent_);
  if (picture.data.empty() || shown_ < sent_ || picture.number <= last_picture_) return false;
  last_picture_ = picture.number;
  // Base64 needs no escapes, and a picture of 100 KB would be scanned for them.
  socket_.send(
      fmt::format(R"({{"type":"frame","seq":{},"data":"{}","width":{},"height":{},"scrollX":{},"scrollY":{}}})",
                  ++sent_, picture.data, picture.width, picture.height, picture.scroll_x, picture.scroll_y));
  return true;
}

void BrowserClient::note_shown(std::int64_t seq) {
  AGW_ASSERT(shown_ <= sent_);
  shown_ = std::clamp(seq, shown_, sent_);
}

void BrowserClient::leave(BrowserEnd why) {
  send({{"type", "closed"}, {"reason", to_text(why)}});
  left_.request();
}

}  // namespace agw
