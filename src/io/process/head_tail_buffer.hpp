#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agw {

/// Keeps the head and the tail of an endless text in bounded memory.
/// Example: src/io/process/head_tail_buffer_test.cpp: HeadTailBuffer.CutsTheMiddle
class HeadTailBuffer {
public:
  /// `limit`: the number of characters (code points of UTF-8) to keep. Invalid UTF-8 counts roughly by its bytes.
  explicit HeadTailBuffer(std::size_t limit);

  void add(std::string_view bytes);

  /// The whole text if it fits; else head and tail, with a line between them that says how much was omitted.
  std::string text() const;

private:
  std::size_t half_;
  std::string beginning_;
  std::size_t beginning_characters_ = 0;
  std::string end_;
  std::uint64_t dropped_bytes_ = 0;
};

}  // namespace agw
