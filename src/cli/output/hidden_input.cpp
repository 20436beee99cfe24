#include <termios.h>
#include <unistd.h>

#include <iostream>
#include <iterator>

#include "cli/output/line_input.hpp"
#include "cli/output/terminal.hpp"

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
    // Before the prompt: input typed after it must neither be shown nor lost.
    const EchoDisabled unseen;
    std::cerr << prompt << std::flush;
    std::getline(std::cin, value);
  }
  std::cerr << '\n';
  return value;
}

std::string piped_text() {
  std::string value{std::istreambuf_iterator<char>(std::cin), {}};
  if (value.ends_with('\n')) value.pop_back();
  return value;
}

}  // namespace

std::string read_hidden(std::string_view prompt) {
  return terminal_at(STDIN_FILENO).present ? typed_line(prompt) : piped_text();
}

}  // namespace agw::cli
