#pragma once

#include <string>

namespace agw {

/// A text that is produced piece by piece: producing all of it at once would hold up the loop, and keep it in memory
/// for a reader who may never come.
class LongText {
public:
  virtual ~LongText() = default;
  /// The next piece, about as long as 64 KiB at most; empty after the last.
  virtual std::string next() = 0;
};

inline constexpr std::size_t long_text_piece = 64UL * 1024;

}  // namespace agw
