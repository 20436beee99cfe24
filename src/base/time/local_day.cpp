#include <fmt/format.h>

#include "base/time/time_zone.hpp"

namespace agw {

LocalDay local_day(Timestamp time, const TimeZone& zone) {
  const auto instant = std::chrono::floor<std::chrono::seconds>(time);
  return std::chrono::floor<std::chrono::days>(instant + zone.span_at(instant).offset);
}

std::string to_iso8601(LocalDay day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace agw
