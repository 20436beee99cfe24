#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace agw {

/// One message of a stream: a server-sent event, a line of NDJSON, or a whole body. Views live for the call only.
struct Frame {
  std::string_view event;  ///< the event's name, empty where it has none
  std::string_view data;
  std::string_view id{};     ///< of the last event that had one: where to resume
  std::string_view retry{};  ///< milliseconds, as the server last asked for them
};

using OnFrame = std::function<void(const Frame&)>;

/// Finds the frames in a stream's bytes, wherever the network cut them.
class FrameSplitter {
public:
  virtual ~FrameSplitter() = default;

  /// Takes the next bytes and calls back for each frame that they complete. False once a frame is over
  /// `max_frame_bytes`: the stream is then of no use.
  virtual bool feed(std::string_view bytes) = 0;

  /// The stream ended in good order: what is left is a frame too.
  virtual void finish() = 0;
};

/// The last event of a stream repeats the whole answer, so a frame may be large, but not without end.
inline constexpr std::size_t max_frame_bytes = 16 * 1024 * 1024;

/// Server-sent events (WHATWG HTML, section 9.2), with the freedoms that providers take: the blank line behind the last
/// event may be missing.
std::unique_ptr<FrameSplitter> split_events(OnFrame on_frame, std::size_t max_bytes = max_frame_bytes);

/// One frame to each line that is not empty, as in NDJSON.
std::unique_ptr<FrameSplitter> split_lines(OnFrame on_frame, std::size_t max_bytes = max_frame_bytes);

/// The whole body is one frame: for a server that does not stream.
std::unique_ptr<FrameSplitter> take_whole(OnFrame on_frame, std::size_t max_bytes = max_frame_bytes);

}  // namespace agw
