#include "cli/output/terminal.hpp"

#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace agw::cli {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Global, because a signal handler has no context.
termios& found_settings() {
  static termios settings{};
  return settings;
}

/// The handler is reset after its first call: the signal then ends the program as usual.
void restore_and_end(int signal) {
  ::tcsetattr(STDIN_FILENO, TCSANOW, &found_settings());
  ::raise(signal);
}

}  // namespace

Terminal terminal_at(int descriptor) {
  Terminal terminal;
  terminal.present = ::isatty(descriptor) == 1;
  terminal.colours = terminal.present && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return terminal;
}

TerminalGuard::TerminalGuard() {
  ::tcgetattr(STDIN_FILENO, &found_settings());
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], nullptr, &before_[i]);
  renew();
}

TerminalGuard::~TerminalGuard() {
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
}

void TerminalGuard::renew() {
  struct sigaction action{};
  action.sa_handler = restore_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : signals) ::sigaction(signal, &action, nullptr);
}

std::optional<int> columns_at(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

std::string dim(const Terminal& terminal, std::string_view text) {
  return terminal.colours ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

}  // namespace agw::cli
