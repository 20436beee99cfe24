#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace agw::cli {

/// The lines of a file descriptor, of which no more than one is held in memory. Blocks, so it is used on a thread that
/// may wait.
/// Example: src/cli/acp/line_reader_test.cpp: LineReader.DropsALineThatIsTooLong
class LineReader {
public:
  struct Line {
    std::string text;
    bool is_too_long = false;  ///< then `text` is empty: the line was read past
  };

  LineReader(int descriptor, std::size_t limit) : descriptor_(descriptor), limit_(limit) {}

  /// The next line without its line feed; nullopt at the end. A last line without line feed counts.
  std::optional<Line> next();

private:
  bool fill();

  int descriptor_;
  std::size_t limit_;
  std::string chunk_;
  std::size_t used_ = 0;  ///< bytes of `chunk_`
};

}  // namespace agw::cli
