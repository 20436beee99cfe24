#pragma once

#include <chrono>
#include <string>

#include "base/time/time.hpp"
#include "base/time/time_zone.hpp"

namespace agw {

/// A calendar date in some time zone.
using LocalDay = std::chrono::sys_days;

/// The date that `zone`'s calendars show at `time`.
LocalDay local_day(Timestamp time, const TimeZone& zone);

/// `2026-01-02`.
std::string to_iso8601(LocalDay day);

}  // namespace agw
