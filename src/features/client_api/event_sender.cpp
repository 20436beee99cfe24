#include "features/client_api/event_sender.hpp"

#include <utility>

#include "base/async/assert.hpp"

namespace agw {

using namespace std::chrono_literals;

namespace {

/// Proxies close connections that are silent for a minute, some after half a minute.
constexpr auto keep_alive_interval = 10s;

Task<> until(AsyncEvent& event) { co_await event.wait(); }

}  // namespace

EventSender::EventSender(Loop& loop, ResponseStream& stream, StopSource& disconnected, Fields fields,
                         std::function<std::string()> keep_alive)
    : stream_(stream),
      disconnected_(disconnected),
      fields_(std::move(fields)),
      keep_alive_(std::move(keep_alive)),
      changed_(loop) {}

void EventSender::write(std::string_view bytes) {
  AGW_ASSERT(!closed_ || bytes.empty());
  if (bytes.empty() || disconnected_.requested()) return;
  begun_ = true;
  waiting_ += bytes;
  if (waiting_.size() > max_waiting) disconnected_.request();
  changed_.notify();
}

void EventSender::close() {
  AGW_ASSERT(!closed_);
  closed_ = true;
  changed_.notify();
}

Task<> EventSender::run() {
  bool has_head = false;
  while (!disconnected_.requested()) {
    if (waiting_.empty() && closed_) break;
    if (waiting_.empty()) {
      const auto waited = co_await with_timeout(disconnected_, keep_alive_interval, until(changed_));
      changed_.reset();
      if (waited == WaitResult::timed_out && !closed_) write(keep_alive_());
      continue;
    }
    if (!std::exchange(has_head, true) && !co_await stream_.begin({.status = 200, .fields = fields_})) break;
    if (!co_await stream_.send(std::exchange(waiting_, {}))) break;
  }
  AGW_ASSERT(begun_ || !has_head);
  const bool complete = closed_ && waiting_.empty() && has_head && !disconnected_.requested();
  if (!complete || !co_await stream_.end()) disconnected_.request();
}

}  // namespace agw
