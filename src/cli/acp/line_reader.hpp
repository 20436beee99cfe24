#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace agw::cli {

/// Reads the lines of a file descriptor and holds at most one of them in memory. Blocks, so use it on a separate
/// thread.
/// Example: src/cli/acp/line_reader_test.cpp: LineReader.DropsALineThatIsTooLong
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

}  // namespace agw::cli
