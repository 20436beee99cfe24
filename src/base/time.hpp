#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace agw {

/// An instant of UTC in milliseconds: what records carry and the database stores.
using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;

/// `2026-01-02T03:04:05.678Z`, always 24 characters for the years 0 to 9999.
std::string to_iso8601(Timestamp time);
/// Writes the same behind what `out` holds.
void append_iso8601(std::string& out, Timestamp time);

/// Reads an ISO 8601 date or date-time, extended form, with or without seconds, fraction and zone (none means UTC).
/// Nothing when it is not one: fields out of range, a leap second, text behind it.
std::optional<Timestamp> parse_iso8601(std::string_view text);

/// Where the time comes from, so that tests can make it pass.
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
