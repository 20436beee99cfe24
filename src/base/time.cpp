#include "base/time.hpp"

#include <charconv>

#include <fmt/format.h>

namespace agw {

namespace {

using namespace std::chrono;

/// Reads a text from left to right; once something did not fit, `ok` stays false.
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

  milliseconds fraction() {
    int value = 0;
    std::size_t length = 0;
    for (; length < rest.size() && rest[length] >= '0' && rest[length] <= '9'; ++length) {
      if (length < 3) value = value * 10 + (rest[length] - '0');
    }
    if (length == 0) ok = false;
    for (auto scale = length; scale < 3; ++scale) value *= 10;
    rest.remove_prefix(length);
    return milliseconds{value};
  }

  /// How far the written time lies ahead of UTC.
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

}  // namespace

std::string to_iso8601(Timestamp time) {
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::optional<Timestamp> parse_iso8601(std::string_view text) {
  Reader reader{text};
  const int y = reader.digits(4, 0, 9999);
  reader.expect('-');
  const int m = reader.digits(2, 1, 12);
  reader.expect('-');
  const int d = reader.digits(2, 1, 31);
  const year_month_day date{year{y}, month{static_cast<unsigned>(m)}, day{static_cast<unsigned>(d)}};
  if (!reader.ok || !date.ok()) return std::nullopt;

  Timestamp result = sys_days{date};
  if (reader.rest.empty()) return result;
  if (!reader.take('T') && !reader.take('t') && !reader.take(' ')) return std::nullopt;
  result += hours{reader.digits(2, 0, 23)};
  reader.expect(':');
  result += minutes{reader.digits(2, 0, 59)};
  if (reader.take(':')) {
    result += seconds{reader.digits(2, 0, 59)};
    if (reader.take('.') || reader.take(',')) result += reader.fraction();
  }
  result -= reader.offset();
  if (!reader.ok || !reader.rest.empty()) return std::nullopt;
  return result;
}

Timestamp SystemClock::now() const { return floor<milliseconds>(system_clock::now()); }

}  // namespace agw
