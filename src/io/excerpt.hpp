#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace agw {

/// Keeps the beginning and the end of a text that may be endless, in bounded memory.
class Excerpt {
public:
  /// `limit`: how many characters (code points of UTF-8) are kept. What is not UTF-8 counts by its bytes, roughly.
  explicit Excerpt(std::size_t limit);

  void add(std::string_view bytes);

  /// All of it where it fits. Else its two ends, with a line between them that says how much is missing.
  std::string text() const;

private:
  std::size_t half_;
  std::string beginning_;
  std::size_t beginning_characters_ = 0;
  std::string end_;
  std::uint64_t dropped_bytes_ = 0;
};

}  // namespace agw
