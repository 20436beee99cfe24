#include "cli/output/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "base/printable.hpp"

namespace agw::cli {

namespace {

constexpr auto clear_line = "\r\x1b[K";
constexpr std::uint64_t bar_length = 20;
/// A line longer than the terminal's width could not be cleared.
constexpr std::size_t max_name = 40;

std::string bar(std::uint64_t done, std::uint64_t total) {
  const auto filled = std::min(done * bar_length / total, bar_length);
  return fmt::format("[{:#<{}}{:-<{}}] {} %", "", filled, "", bar_length - filled, done * 100 / total);
}

}  // namespace

Progress::Progress() : terminal_(terminal_at(STDERR_FILENO)) {}

Progress::~Progress() {
  if (!shown_.empty()) std::cerr << clear_line << std::flush;
}

void Progress::show(const std::string& what, std::uint64_t done, std::uint64_t total) {
  if (!terminal_.present) return;
  auto line = fmt::format("{} {}", one_line(what, max_name), total == 0 ? std::to_string(done) : bar(done, total));
  if (line == shown_) return;
  std::cerr << clear_line << line << std::flush;
  shown_ = std::move(line);
}

}  // namespace agw::cli
