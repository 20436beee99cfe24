#include "cli/output/progress.hpp"

#include <unistd.h>

#include <iostream>

#include <fmt/format.h>

namespace agw::cli {

namespace {

constexpr auto clear_line = "\r\x1b[K";

}  // namespace

Progress::Progress() : terminal_(terminal_at(STDERR_FILENO)) {}

Progress::~Progress() {
  if (!shown_.empty()) std::cerr << clear_line << std::flush;
}

void Progress::show(const std::string& what, std::uint64_t done, std::uint64_t total) {
  if (!terminal_.present) return;
  auto line = total == 0 ? fmt::format("{} {}", what, done) : fmt::format("{} {} %", what, done * 100 / total);
  if (line == shown_) return;
  std::cerr << clear_line << line << std::flush;
  shown_ = std::move(line);
}

}  // namespace agw::cli
