#include <array>
#include <cstdint>
#include <ctime>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "base/time/time.hpp"
#include "cli/output/table.hpp"

namespace agw::cli {

std::string local_time(std::string_view iso8601) {
  const auto time = parse_iso8601(iso8601);
  if (!time) return one_line(iso8601);
  const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(*time).time_since_epoch().count();
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts)};
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds);
  const auto minutes = whole / 60;
  const auto hours = minutes / 60;
  if (hours >= 24) return fmt::format("{} d {} h", hours / 24, hours % 24);
  if (hours > 0) return fmt::format("{} h {} min", hours, minutes % 60);
  if (minutes > 0) return fmt::format("{} min {} s", minutes, whole % 60);
  return fmt::format("{} s", whole);
}

}  // namespace agw::cli
