#include "base/time/time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <span>

#include <fmt/compile.h>

namespace agw {

namespace {

using namespace std::chrono;

/// Outside of these, a year does not have four digits in UTC.
constexpr Timestamp first_time = sys_days(year{0} / January / 1);
constexpr Timestamp last_time = sys_days(year{10'000} / January / 1) - 1ms;

/// Parses a text from left to right. After the first mismatch `ok` stays false.
struct Reader {
  std::string_view rest;
  bool ok = true;

  bool take(char wanted) {
    if (rest.empty() || rest.front() != wanted) return false;
    rest.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) ok = false;
  }

  int digits(std::size_t count, int low, int high) {
    int value = 0;
    if (rest.size() < count) return ok = false, 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + count, value);
    if (error != std::errc{} || end != rest.data() + count || rest.front() == '-' || value < low || value > high) {
      return ok = false, 0;
    }
    rest.remove_prefix(count);
    return value;
  }

  /// A calendar date (2026-01-02), an ordinal date (2026-002) or a week date (2026-W01-5), with or without hyphens.
  /// Returns a date that is not `ok()` if there is no such day.
  year_month_day day() {
    const year y{digits(4, 0, 9999)};
    const bool hyphens = take('-');
    if (take('W')) return day_of_week(y, hyphens);
    if (rest.substr(0, rest.find_first_of("Tt ")).size() == 3) return day_of_year(y);
    const month m{static_cast<unsigned>(digits(2, 1, 12))};
    if (hyphens) expect('-');
    return {y, m, std::chrono::day{static_cast<unsigned>(digits(2, 1, 31))}};
  }

  /// Week 1 contains January 4; weeks begin on Monday.
  year_month_day day_of_week(year y, bool hyphens) {
    const weeks week{digits(2, 1, 53) - 1};
    if (hyphens) expect('-');
    const days in_week{digits(1, 1, 7) - 1};
    const sys_days fourth{y / January / 4};
    const auto first = fourth - (weekday{fourth} - Monday);
    const auto thursday = year_month_day{first + week + days{3}};
    if (thursday.year() != y) ok = false;
    return first + week + in_week;
  }

  year_month_day day_of_year(year y) {
    const year_month_day found{sys_days{y / January / 1} + days{digits(3, 1, 366) - 1}};
    if (found.year() != y) ok = false;
    return found;
  }

  /// A time of day, with or without colons, at least the hours, the last part with or without a fraction; 24:00 is the
  /// end of the day, and a leap second counts as the next one.
  milliseconds clock() {
    const hours h{digits(2, 0, 24)};
    minutes m{0};
    seconds s{0};
    milliseconds unit = 1h;
    const bool colons = take(':');
    if (colons || at_digit()) {
      m = minutes{digits(2, 0, 59)};
      unit = 1min;
      if (colons ? take(':') : at_digit()) {
        s = seconds{digits(2, 0, 60)};
        unit = 1s;
      }
    }
    milliseconds part{0};
    if (take('.') || take(',')) part = fraction(unit);
    if (h == hours{24} && m + s + part > 0s) ok = false;
    if (s >= 60s && m != 59min) ok = false;
    return h + m + s + part;
  }

  bool at_digit() const { return !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; }

  milliseconds fraction(milliseconds unit) {
    if (!at_digit()) ok = false;
    milliseconds::rep value = 0;
    milliseconds::rep scale = 1;
    for (; at_digit(); rest.remove_prefix(1)) {
      if (scale >= 1'000'000'000) continue;
      value = value * 10 + (rest.front() - '0');
      scale *= 10;
    }
    return unit * value / scale;
  }

  /// The UTC offset in the text, 0 if there is none.
  minutes offset() {
    if (rest.empty() || take('Z') || take('z')) return minutes{0};
    const bool ahead = rest.front() == '+';
    if (!ahead && rest.front() != '-') return ok = false, minutes{0};
    rest.remove_prefix(1);
    const hours h{digits(2, 0, 23)};
    minutes m{0};
    if (!rest.empty()) {
      take(':');
      m = minutes{digits(2, 0, 59)};
    }
    return ahead ? h + m : -(h + m);
  }
};

void write_digits(std::span<char> text, std::size_t at, std::size_t count, std::int64_t number) {
  for (auto end = at + count; end > at; number /= 10) text[--end] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string to_iso8601(Timestamp time) {
  std::string text;
  append_iso8601(text, time);
  return text;
}

void append_iso8601(std::string& out, Timestamp time) {
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{:04}"), static_cast<int>(date.year()));
  // fmt would take four times as long, and a list of records has about a hundred times.
  auto rest = std::to_array("-00-00T00:00:00.000Z");
  write_digits(rest, 1, 2, static_cast<unsigned>(date.month()));
  write_digits(rest, 4, 2, static_cast<unsigned>(date.day()));
  write_digits(rest, 7, 2, clock.hours().count());
  write_digits(rest, 10, 2, clock.minutes().count());
  write_digits(rest, 13, 2, clock.seconds().count());
  write_digits(rest, 16, 3, clock.subseconds().count());
  out.append(rest.data(), rest.size() - 1);
}

std::optional<Timestamp> parse_iso8601(std::string_view text) {
  Reader reader{text};
  const auto day = reader.day();
  if (!reader.ok || !day.ok()) return std::nullopt;
  Timestamp result = sys_days{day};
  if (reader.take('T') || reader.take('t') || reader.take(' ')) {
    result += reader.clock();
    result -= reader.offset();
  }
  if (!reader.ok || !reader.rest.empty()) return std::nullopt;
  return std::clamp(result, first_time, last_time);
}

Timestamp SystemClock::now() const { return floor<milliseconds>(system_clock::now()); }

}  // namespace agw
