#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/time/time.hpp"
#include "base/time/time_zone.hpp"

namespace agw {

/// An invalid cron expression. The message names the field and the values that it accepts.
class CronError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A cron expression: five fields (minute, hour, day of month, month, day of week), six with seconds first, or a macro
/// such as `@daily`. Fields are lists of values, ranges and steps; names for months and weekdays; `?` for `*`; in days
/// of the month `L`, `15W`, `LW`; in days of the week `5L`, `5#2`, `5#L`. If both kinds of days are restricted, a day
/// that matches either one counts.
/// Example: src/base/cron_test.cpp: Cron.RunsOneTimeOfDayOnceAndOtherTimesByTheClock
class Cron {
public:
  /// Throws CronError.
  explicit Cron(std::string_view expression);

  /// The first time after `after` at which the zone's local time matches the expression. An expression with a single
  /// time of day fires once on each matching day: if the clock skips that time, at the first instant after the gap; if
  /// it occurs twice, at the first occurrence. Other expressions skip times in a gap and fire twice at repeated times.
  /// Returns nullopt if no day ever matches (`0 0 30 2 *`), and after the year 9999.
  std::optional<Timestamp> next(Timestamp after, const TimeZone& zone) const;

  /// Whether any day matches, in any zone.
  bool ever_fires() const;

private:
  using LocalTime = std::chrono::local_seconds;

  void read_days_of_month(std::string_view field);
  void read_days_of_week(std::string_view field);
  void read_day_of_month(std::string_view item);
  void read_day_of_week(std::string_view item);

  std::optional<std::chrono::sys_seconds> first_in(const ZoneSpan& span, std::chrono::sys_seconds from,
                                                   std::chrono::sys_seconds until) const;
  std::optional<LocalTime> first_local(LocalTime from, LocalTime until) const;
  std::optional<std::chrono::seconds> first_time_of_day(std::chrono::seconds from) const;
  bool is_day(std::chrono::year_month_day date) const;
  bool is_day_of_month(std::chrono::year_month_day date) const;
  bool is_day_of_week(std::chrono::year_month_day date) const;

  std::bitset<60> seconds_;
  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<13> months_;

  bool any_day_of_month_ = false;
  std::bitset<32> days_;
  std::bitset<32> weekdays_nearest_;  ///< `nW`
  bool last_day_ = false;             ///< `L`
  bool last_weekday_ = false;         ///< `LW`

  bool any_day_of_week_ = false;
  std::bitset<7> days_of_week_;                 ///< from Sunday
  std::array<std::bitset<7>, 6> nth_of_month_;  ///< [n]: `d#n`
  std::bitset<7> last_of_month_;                ///< `dL`

  bool one_time_of_day_ = false;
};

/// The reason why `expression` is invalid or never fires; nullopt if it is valid and fires.
std::optional<std::string> cron_problem(std::string_view expression);

}  // namespace agw
