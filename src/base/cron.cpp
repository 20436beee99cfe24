#include "base/cron.hpp"

#include <algorithm>

#include "base/async/assert.hpp"

namespace agw {

namespace {

using namespace std::chrono;

/// The next February 29 on a given weekday can be 40 years away.
constexpr auto horizon = years{50};
/// Timestamps have four digits for the year, and a calendar year in C++ overflows after 32767.
constexpr sys_seconds end_of_time = sys_days(year{10'000} / 1 / 1);

int last_day_of(year_month_day date) { return static_cast<int>(unsigned((date.year() / date.month() / last).day())); }

/// The weekday from Monday to Friday in the same month that is nearest to the day `wanted`.
int weekday_nearest_to(year_month_day date, int wanted) {
  const int last = last_day_of(date);
  AGW_ASSERT(wanted >= 1);
  AGW_ASSERT(wanted <= last);
  const auto weekday_of = weekday(sys_days(date.year() / date.month() / day(static_cast<unsigned>(wanted))));
  if (weekday_of == Saturday) return wanted == 1 ? 3 : wanted - 1;
  if (weekday_of == Sunday) return wanted == last ? wanted - 2 : wanted + 1;
  return wanted;
}

}  // namespace

std::optional<Timestamp> Cron::next(Timestamp after, const TimeZone& zone) const {
  auto from = floor<seconds>(after) + seconds{1};
  const auto until = std::min<sys_seconds>(from + horizon, end_of_time);
  while (from < until) {
    const auto span = zone.span_at(from);
    const auto found = first_in(span, from, std::min(span.end, until));
    AGW_DEBUG_ASSERT(!found || *found > after);
    if (found) return Timestamp(*found);
    // A span that ends where it is entered would make this loop endless.
    AGW_DEBUG_ASSERT(span.end > from);
    from = span.end;
  }
  return std::nullopt;
}

bool Cron::ever_fires() const {
  const LocalTime start(local_days(year{2000} / 1 / 1));
  return first_local(start, start + horizon).has_value();
}

std::optional<std::string> cron_problem(std::string_view expression) {
  try {
    if (Cron(expression).ever_fires()) return std::nullopt;
    return "never fires";
  } catch (const CronError& error) {
    return error.what();
  }
}

std::optional<sys_seconds> Cron::first_in(const ZoneSpan& span, sys_seconds from, sys_seconds until) const {
  const auto local = [](sys_seconds time, seconds offset) { return LocalTime(time.time_since_epoch() + offset); };
  auto local_from = local(from, span.offset);
  if (one_time_of_day_ && from == span.begin && span.offset > span.offset_before) {
    if (first_local(local(from, span.offset_before), local_from)) return from;
  }
  if (one_time_of_day_ && span.offset < span.offset_before) {
    local_from = std::max(local_from, local(span.begin, span.offset_before));
  }
  const auto found = first_local(local_from, local(until, span.offset));
  if (!found) return std::nullopt;
  return sys_seconds(found->time_since_epoch() - span.offset);
}

std::optional<Cron::LocalTime> Cron::first_local(LocalTime from, LocalTime until) const {
  AGW_DEBUG_ASSERT(months_.any());
  auto day = floor<days>(from);
  while (day < until) {
    const year_month_day date(day);
    if (!months_.test(unsigned(date.month()))) {
      day = local_days((date.year() / date.month() / 1) + months{1});
      continue;
    }
    if (is_day(date)) {
      const auto time = first_time_of_day(std::max(seconds{0}, from - day));
      if (time) return day + *time < until ? std::optional(day + *time) : std::nullopt;
    }
    day += days{1};
  }
  return std::nullopt;
}

std::optional<seconds> Cron::first_time_of_day(seconds from) const {
  AGW_ASSERT(from >= seconds{0});
  AGW_ASSERT(from < days{1});
  const hh_mm_ss start(from);
  for (auto hour = start.hours(); hour < hours{24}; ++hour) {
    if (!hours_.test(static_cast<std::size_t>(hour.count()))) continue;
    for (auto minute = hour == start.hours() ? start.minutes() : minutes{0}; minute < minutes{60}; ++minute) {
      if (!minutes_.test(static_cast<std::size_t>(minute.count()))) continue;
      for (auto second = std::max(seconds{0}, from - hour - minute); second < seconds{60}; ++second) {
        if (seconds_.test(static_cast<std::size_t>(second.count()))) return hour + minute + second;
      }
    }
  }
  return std::nullopt;
}

bool Cron::is_day(year_month_day date) const {
  if (any_day_of_month_ && any_day_of_week_) return true;
  return (!any_day_of_month_ && is_day_of_month(date)) || (!any_day_of_week_ && is_day_of_week(date));
}

bool Cron::is_day_of_month(year_month_day date) const {
  const int day_number = static_cast<int>(unsigned(date.day()));
  const int last = last_day_of(date);
  if (days_.test(static_cast<std::size_t>(day_number)) || (last_day_ && day_number == last)) return true;
  const auto weekday_of_last = weekday(sys_days(date.year() / date.month() / std::chrono::last));
  const int last_weekday = weekday_of_last == Saturday ? last - 1 : weekday_of_last == Sunday ? last - 2 : last;
  if (last_weekday_ && day_number == last_weekday) return true;
  if (weekdays_nearest_.none()) return false;
  for (int wanted = 1; wanted <= last; ++wanted) {
    const bool asked = weekdays_nearest_.test(static_cast<std::size_t>(wanted));
    if (asked && weekday_nearest_to(date, wanted) == day_number) return true;
  }
  return false;
}

bool Cron::is_day_of_week(year_month_day date) const {
  const auto weekday_number = weekday(sys_days(date)).c_encoding();
  const auto day_number = static_cast<int>(unsigned(date.day()));
  const auto nth = static_cast<std::size_t>(day_number - 1) / 7 + 1;
  AGW_ASSERT(nth < nth_of_month_.size());
  AGW_ASSERT(weekday_number < days_of_week_.size());
  const bool is_last = day_number + 7 > last_day_of(date);
  return days_of_week_.test(weekday_number) || nth_of_month_[nth].test(weekday_number) ||
         (is_last && last_of_month_.test(weekday_number));
}

}  // namespace agw
