#include <algorithm>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "cli/output/terminal.hpp"

namespace agw::cli {

namespace {

constexpr int red = 31, green = 32, cyan = 36;

/// The colour of a line of a diff.
int colour_of(std::string_view line) {
  if (line.starts_with("@@")) return cyan;
  if (line.starts_with('+')) return green;
  return line.starts_with('-') ? red : 0;
}

}  // namespace

std::string diff_text(std::string_view diff, const Terminal& terminal) {
  std::string out;
  while (!diff.empty()) {
    const auto size = std::min(diff.find('\n'), diff.size());
    const auto line = diff.substr(0, size);
    const int colour = terminal.colours ? colour_of(line) : 0;
    out += colour == 0 ? printable(line) : fmt::format("\x1b[{}m{}\x1b[0m", colour, printable(line));
    out += '\n';
    diff.remove_prefix(std::min(size + 1, diff.size()));
  }
  return out;
}

}  // namespace agw::cli
