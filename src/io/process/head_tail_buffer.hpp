#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agw {

/// Keeps the start and the end of an unlimited text in bounded memory.
/// Example: src/io/process/head_tail_buffer_test.cpp: HeadTailBuffer.CutsTheMiddle
class HeadTailBuffer {
public:
  /// `limit` is the number of characters (UTF-8 code points) to keep. Invalid UTF-8 counts approximately by its bytes.
  explicit HeadTailBuffer(std::size_t limit);

  void add(std::string_view bytes);

  /// The complete text if it fits; otherwise its start and end, separated by a line that states how much was omitted.
  std::string text() const;

private:
  void assert_invariants() const;

  std::size_t half_;
  std::string beginning_;
  std::size_t beginning_characters_ = 0;
  std::string end_;
  std::uint64_t dropped_bytes_ = 0;
};

}  // namespace agw
