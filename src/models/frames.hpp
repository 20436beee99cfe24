#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace agw {

/// One message of a stream: a server-sent event, a line of NDJSON, or a whole body. The views are valid during the
/// callback only.
struct Frame {
  std::string_view event;  ///< the event's name, or empty
  std::string_view data;
  std::string_view id{};     ///< of the last event that had one, for resuming the stream
  std::string_view retry{};  ///< milliseconds, as the server last requested
};

using OnFrame = std::function<void(const Frame&)>;

/// Splits a stream into frames, however the network split its bytes.
/// Example: src/models/frames_test.cpp: SplitEvents.FindsNamedAndUnnamedEvents
class FrameSplitter {
public:
  virtual ~FrameSplitter() = default;

  /// Calls back for each frame that `bytes` completes. Returns false if a frame exceeds the limit; the stream is then
  /// unusable.
  virtual bool feed(std::string_view bytes) = 0;

  /// Call at the normal end of the stream: the remaining bytes are the last frame.
  virtual void finish() = 0;
};

/// The last event of some streams repeats the whole answer.
inline constexpr std::size_t max_frame_bytes = 16 * 1024 * 1024;

/// Server-sent events (WHATWG HTML, section 9.2). The blank line after the last event is optional, because some
/// providers omit it.
std::unique_ptr<FrameSplitter> split_events(OnFrame on_frame, std::size_t max_bytes = max_frame_bytes);

/// One frame per line that is not empty, as in NDJSON.
std::unique_ptr<FrameSplitter> split_lines(OnFrame on_frame, std::size_t max_bytes = max_frame_bytes);

/// One frame for the whole body, for servers that do not stream.
std::unique_ptr<FrameSplitter> whole_body(OnFrame on_frame, std::size_t max_bytes = max_frame_bytes);

}  // namespace agw
