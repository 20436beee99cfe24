#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>

#include "cli/output/line_input.hpp"
#include "cli/output/terminal.hpp"
#include "io/files/descriptor.hpp"

namespace agw::cli {

namespace {

/// Disables the terminal's echo.
class EchoDisabled {
public:
  EchoDisabled() {
    ::tcgetattr(STDIN_FILENO, &before_);
    auto silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~EchoDisabled() { ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_); }
  EchoDisabled(const EchoDisabled&) = delete;
  EchoDisabled& operator=(const EchoDisabled&) = delete;

private:
  const TerminalGuard guard_;
  termios before_{};
};

std::string typed_line(std::string_view prompt) {
  std::string value;
  {
    // Disabled before the prompt: input typed after it must be neither shown nor lost.
    const EchoDisabled unseen;
    std::cerr << prompt << std::flush;
    std::getline(std::cin, value);
  }
  std::cerr << '\n';
  return value;
}

std::string piped_text() {
  auto value = read_standard_input();
  if (value.ends_with('\n')) value.pop_back();
  return value;
}

}  // namespace

std::string read_hidden(std::string_view prompt) {
  return terminal_at(STDIN_FILENO).present ? typed_line(prompt) : piped_text();
}

std::string read_standard_input(std::size_t max_bytes) {
  std::string text;
  std::array<char, 64UL * 1024> piece;
  while (std::cin.read(piece.data(), piece.size()) || std::cin.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > max_bytes)
      throw std::runtime_error(fmt::format("standard input: is larger than {} MiB", max_bytes >> 20));
  }
  // What could not be read must not count as empty: it may replace a file.
  if (std::ferror(stdin) != 0) throw_errno("cannot read standard input");
  return text;
}

}  // namespace agw::cli
