#pragma once

#include <memory>
#include <optional>
#include <string>

namespace agw::cli {

/// Lines that a person types at the terminal, with editing and the history of this program.
class LineInput {
public:
  LineInput();
  ~LineInput();

  /// Waits for a line and answers it without its line feed; nothing when the person is done: Ctrl-D, or Ctrl-C where
  /// nothing is typed. (With something typed, Ctrl-C begins a new line.) Blocks the thread.
  std::optional<std::string> read();

private:
  struct Editor;
  std::unique_ptr<Editor> editor_;
};

}  // namespace agw::cli
