#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// A UTC instant in milliseconds, the resolution of records and of the database.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// `2026-01-02T03:04:05.678Z`, always 24 characters for the years 0 to 9999.
std::string to_iso8601(Timestamp time);
/// Appends the same to `out`.
void append_iso8601(std::string& out, Timestamp time);

/// Parses an ISO 8601 date or date-time, with or without separators, seconds, fraction and zone (default UTC). A leap
/// second is the second after it. A time whose year does not have four digits in UTC becomes the nearest one that does.
/// Returns nullopt if it is invalid: fields out of range, no day, trailing text.
/// Example: src/base/time/time_test.cpp: Time.ReadsDatesAndDateTimes
std::optional<Timestamp> parse_iso8601(std::string_view text);

/// The source of the current time, which tests replace.
class Clock {
public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
};

/// The host's wall clock.
class SystemClock : public Clock {
public:
  Timestamp now() const override;
};

}  // namespace agw
