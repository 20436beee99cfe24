#include "cli/terminal.hpp"

#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

namespace agw::cli {

namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Terminal terminal_at(int descriptor) {
  Terminal terminal;
  terminal.present = ::isatty(descriptor) == 1;
  terminal.colours = terminal.present && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return terminal;
}

std::string dim(const Terminal& terminal, std::string_view text) {
  return terminal.colours ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

}  // namespace agw::cli
