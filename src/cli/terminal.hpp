#pragma once

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>

namespace agw::cli {

/// What an output (or input) of the process is connected to.
struct Terminal {
  bool present = false;  ///< a person's terminal, not a file or a pipe
  bool colours = false;  ///< and it may be coloured: `NO_COLOR` is not set, and it is no dumb one
};

/// Looks at a file descriptor: 0, 1 or 2.
Terminal terminal_at(int descriptor);

/// How many columns the terminal at a file descriptor has; nothing where that is not known.
std::optional<int> columns_at(int descriptor);

/// `text` less bright, or as it is where `terminal` has no colours.
std::string dim(const Terminal& terminal, std::string_view text);

/// While it lives, a signal that ends the program leaves the terminal at standard input as it was when this was made.
/// One at a time.
class TerminalGuard {
public:
  TerminalGuard();
  ~TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace agw::cli
