#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agw::cli {

/// Reads lines from the terminal, with editing and the history of this program.
class LineInput {
public:
  LineInput();
  ~LineInput();

  /// Reads a line without its line feed; nullopt when the user ends the input: Ctrl-D, or Ctrl-C on an empty line.
  /// (Otherwise Ctrl-C starts a new line.) Blocks the thread.
  std::optional<std::string> read();

private:
  struct Editor;
  std::unique_ptr<Editor> editor_;
};

/// Reads a secret text: at a terminal a line after `prompt`, without echo; else all of stdin without the line feed that
/// `echo` adds. Blocks the thread.
std::string read_hidden(std::string_view prompt);

/// The maximum size of any body that a gateway accepts.
inline constexpr std::size_t max_standard_input = std::size_t{1024} << 20;

/// Reads all of standard input. Throws std::runtime_error if it has more than `max_bytes`. Blocks the thread.
std::string read_standard_input(std::size_t max_bytes = max_standard_input);

}  // namespace agw::cli
