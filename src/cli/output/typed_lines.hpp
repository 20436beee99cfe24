#pragma once

#include <termios.h>

#include <optional>
#include <string>

#include "base/async/cancellation.hpp"
#include "base/async/task.hpp"
#include "io/files/descriptor.hpp"
#include "io/process/blocking.hpp"

namespace agw::cli {

/// Reads lines from the terminal at standard input while the loop runs. During its lifetime the terminal edits and
/// echoes lines, whatever its settings before. Discards earlier input, which was not meant for this prompt.
class TypedLines {
public:
  explicit TypedLines(Loop& loop);
  ~TypedLines();  ///< discards unread input and restores the terminal
  TypedLines(const TypedLines&) = delete;
  TypedLines& operator=(const TypedLines&) = delete;

  /// Waits for a line, without its line feed. Nullopt at Ctrl-D, or once `over` is requested.
  Task<std::optional<std::string>> next(StopSource& over);

private:
  termios before_{};
  Descriptor woken_;  ///< the ends of a pipe that interrupts the wait for a line
  Descriptor wake_;
  BlockingPool reading_;
};

}  // namespace agw::cli
