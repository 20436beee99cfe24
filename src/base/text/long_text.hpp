#pragma once

#include <string>

namespace agw {

/// A text that is produced piece by piece: producing it at once would block the loop and keep all of it in memory,
/// although the client may never read it.
class LongText {
public:
  virtual ~LongText() = default;
  /// The next piece, of roughly 64 KiB at most; empty after the last.
  virtual std::string next() = 0;
};

inline constexpr std::size_t long_text_piece = 64UL * 1024;

}  // namespace agw
