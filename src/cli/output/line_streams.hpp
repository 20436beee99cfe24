#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace agw::cli {

/// Reads the lines of a file descriptor and holds at most one of them in memory. Blocks, even if the descriptor does
/// not, so use it on a separate thread.
/// Example: src/cli/output/line_streams_test.cpp: LineReader.DropsALineThatIsTooLong
class LineReader {
public:
  struct Line {
    std::string text;
    bool is_too_long = false;  ///< then `text` is empty, because the line was skipped
  };

  LineReader(int descriptor, std::size_t limit) : descriptor_(descriptor), limit_(limit) {}

  /// The next line without its line feed; nullopt at the end. A last line may lack the line feed.
  std::optional<Line> next();

private:
  bool fill();

  int descriptor_;
  std::size_t limit_;
  std::string chunk_;
  std::size_t used_ = 0;  ///< bytes of `chunk_` already consumed
};

/// Writes the text and a line feed. Blocks until all is written, even if the descriptor does not block. Returns 0, or
/// the error that made it impossible.
int write_line(int descriptor, std::string_view text);

}  // namespace agw::cli
