#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "features/apps/types.hpp"

namespace agw {

/// The last lines of an app's output: at most 2,000 lines of 2,000 bytes.
class AppLog {
public:
  static constexpr std::size_t max_lines = 2000;
  static constexpr std::size_t max_line_length = 2000;

  /// Adds bytes of a stream as they arrive. Lines may span calls.
  void add(AppStream stream, std::string_view bytes, Timestamp now);
  /// Marks the end of a stream: an incomplete line becomes a line.
  void finish(AppStream stream, Timestamp now);
  /// Adds a line of the gateway.
  void note(std::string line, Timestamp now) { append(AppStream::gateway, std::move(line), now); }

  /// The last `count` lines, oldest first.
  std::vector<AppLogLine> last(std::size_t count) const;

private:
  struct Unfinished {
    std::string text;
    bool is_truncated = false;  ///< the rest of the line is dropped
  };
  void extend(Unfinished& line, std::string_view bytes);
  void end_line(AppStream stream, Timestamp now);
  void append(AppStream stream, std::string line, Timestamp now);

  std::deque<AppLogLine> lines_;
  std::array<Unfinished, 3> unfinished_;
};

}  // namespace agw
