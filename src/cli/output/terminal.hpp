#pragma once

#include <array>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>

namespace agw::cli {

/// The properties of a standard stream.
struct Terminal {
  bool present = false;  ///< a terminal, not a file or a pipe
  bool colours = false;  ///< colours are allowed: `NO_COLOR` is not set and the terminal is not dumb
};

/// The properties of file descriptor 0, 1 or 2.
Terminal terminal_at(int descriptor);

/// The number of columns of the terminal at a file descriptor; nullopt if unknown.
std::optional<int> columns_at(int descriptor);

/// `text` in a dim colour, or unchanged if `terminal` has no colours.
std::string dim(const Terminal& terminal, std::string_view text);

/// During its lifetime, a signal that ends the program first restores the initial settings of the terminal at standard
/// input. Only one instance may exist at a time.
class TerminalGuard {
public:
  TerminalGuard();
  ~TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

  /// Handles the signals again, after others did: when Asio's last `signal_set` for a signal ends, it is not handled.
  void renew();

private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  std::array<struct sigaction, signals.size()> before_{};
};

/// A unified diff with colours for a terminal: additions green, deletions red, positions blue. Printable.
std::string diff_text(std::string_view diff, const Terminal& terminal);

}  // namespace agw::cli
