#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/assert.hpp"
#include "base/text/long_text.hpp"
#include "features/events/domain_event.hpp"

namespace agw {

/// A frame to send: header and message, or all of it in `bytes`. For a message sent in several frames: the next frame,
/// and the source of the others.
struct QueuedFrame {
  std::string bytes;
  SharedMessage message = {};
  std::unique_ptr<LongText> rest = {};
  bool continues = false;  ///< earlier frames of that message were sent
  std::size_t size() const { return bytes.size() + (message ? message->size() : 0); }
};

/// Frames to be sent, oldest first. Uses no memory while it is empty, because most sockets are idle: an empty
/// std::deque would use half a kibibyte.
/// Example: src/server/websocket/frame_queue_test.cpp: FrameQueue.KeepsTheOrder
class FrameQueue {
public:
  bool empty() const { return frames_.empty(); }
  std::size_t size() const { return frames_.size() - first_; }
  QueuedFrame& front() { return frames_[first_]; }
  const QueuedFrame& front() const { return frames_[first_]; }
  const QueuedFrame& back() const { return frames_.back(); }
  const QueuedFrame& operator[](std::size_t at) const {
    AGW_ASSERT(at < size());
    return frames_[first_ + at];
  }

  void push_back(QueuedFrame frame) { frames_.push_back(std::move(frame)); }
  void pop_front();
  void pop_back();

private:
  void free_if_empty();

  std::vector<QueuedFrame> frames_;
  std::size_t first_ = 0;  ///< earlier frames were removed
};

inline void FrameQueue::pop_front() {
  AGW_ASSERT(first_ < frames_.size());
  frames_[first_++] = {};
  constexpr std::size_t worth_moving = 64;
  if (first_ >= worth_moving && first_ * 2 >= frames_.size()) {
    frames_.erase(frames_.begin(), frames_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  free_if_empty();
}

inline void FrameQueue::pop_back() {
  AGW_ASSERT(first_ < frames_.size());
  frames_.pop_back();
  free_if_empty();
}

inline void FrameQueue::free_if_empty() {
  if (size() > 0) return;
  std::vector<QueuedFrame>().swap(frames_);
  first_ = 0;
}

}  // namespace agw
